from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from torch import Tensor, nn

from ptcli.objective.loss import Loss


class TrainingStep(nn.Module):
    """The one root module: whatever wraps or compiles a model wraps this, and its names are the saved names.

    The objective says in `denominators` by which global count each of its terms is divided.
    """

    def __init__(self, model: nn.Module, objective: Any):
        super().__init__()
        self.model = model
        self.objective = objective

    def forward(self, batch: dict[str, Tensor], counts: dict[str, int]) -> tuple[Tensor, Loss]:
        """The micro-batch's share of the step's loss, and its terms as sums and counts.

        `counts`: scored positions in the whole optimiser step ("labels", "pair_labels"), so that the shares of all
        micro-batches add up to the exact mean, however unequal they are. A term without positions adds 0.
        """
        loss: Loss = self.objective(self.model, batch)
        total = sum(
            loss.weights.get(term, 1.0) * value / max(counts[self.objective.denominators[term]], 1)
            for term, value in loss.sums.items()
        )
        assert isinstance(total, Tensor), "an objective has at least one term"
        return total, loss

    @property
    def second_pass(self) -> Callable[[], AbstractContextManager] | None:
        """What to enter to go through a micro-batch once more, after its backward pass (FGM); None: once is enough."""
        wanted = getattr(self.objective, "second_pass", None)
        return None if wanted is None else partial(wanted, self.model)
