"""What objectives share: one or more losses of a model's hidden states, and the auxiliary losses beside them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from jaxtyping import Shaped
from torch import Tensor, nn

from ptcli.auxiliary.auxiliary import Auxiliary
from ptcli.objective.loss import Loss

Batch = Mapping[str, Shaped[Tensor, "..."]]


class Objective(nn.Module, ABC):
    """A model's losses and the heads that they need. What logs, evaluates or draws works from what it declares.

    `main`: the term that is held against the baselines and that says which weights are best.
    Of each term by its name: `denominators`, the column of the batch by whose count it is divided; `weights`, its
    factor in the total; `predicts`, what, in a few words.
    """

    main: str
    needs_bidirectional = False

    def __init__(self) -> None:
        super().__init__()
        self.denominators: dict[str, str] = {}
        self.weights: dict[str, float] = {}
        self.predicts: dict[str, str] = {}
        self.auxiliaries = nn.ModuleDict()

    def declare(self, term: str, *, of: str, predicts: str, weight: float = 1.0) -> None:
        """Name a term: it is divided by the count of the column `of`."""
        self.denominators[term], self.weights[term], self.predicts[term] = of, weight, predicts

    def take(self, auxiliaries: Mapping[str, Auxiliary]) -> None:
        """Add auxiliary losses, which are terms by their names."""
        for name, auxiliary in auxiliaries.items():
            self.auxiliaries[name] = auxiliary
            self.declare(name, of=auxiliary.column, predicts=auxiliary.predicts, weight=auxiliary.weight)

    @abstractmethod
    def losses(self, model: nn.Module, batch: Batch) -> tuple[Loss, Callable[[], Tensor]]:
        """The objective's own terms; and the hidden states (B, S, H), computed when asked for where they were not."""

    def forward(self, model: nn.Module, batch: Batch) -> Loss:
        """Sums, counts and hits of a batch. Auxiliary losses are among them where the batch has their columns."""
        loss, hidden = self.losses(model, batch)
        for name, auxiliary in self.auxiliaries.items():
            if self.denominators[name] in batch:  # the fixed evaluation feeds plain text
                loss.add(name, auxiliary(model, hidden(), batch))
        return loss

    def flops_per_token(self, model: nn.Module, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length`; heads are not counted."""
        return model.flops_per_token(length)  # type: ignore[operator]

    def head_flops(self, model: nn.Module) -> int:
        """Floating-point operations of the heads for each scored position, forward."""
        return 2 * sum(p.numel() for p in self.parameters() if p.ndim > 1)
