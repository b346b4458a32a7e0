"""What several tasks are trained by: each batch by the objective of the task that it is of."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from jaxtyping import Shaped
from torch import Tensor, nn

from ptcli.batch.contract import MEMBER
from ptcli.errors import ConfigError
from ptcli.objective.loss import Loss


class JointObjective(nn.Module):
    """Objectives of which each batch has one: batch["member"], (0, m), is of number m.

    An objective that a step is not of has no gradient in it, so that no optimizer touches its weights then.

    Args:
        members: the objectives by name, in the order of their numbers; their losses have different names.

    Raises ConfigError where members disagree on a second pass (FGM), which all steps have or none has.
    """

    def __init__(self, members: Mapping[str, Any]):
        super().__init__()
        self.names = tuple(members)
        self.members = nn.ModuleList(members.values())
        self.denominators: dict[str, str] = {}
        for name, member in members.items():
            if double := self.denominators.keys() & member.denominators.keys():
                raise ConfigError(f"the loss {min(double)} of task {name} has the name of another task's. Rename it.")
            self.denominators |= member.denominators
        asked = {name: getattr(member, "second_pass", None) for name, member in members.items()}
        settings = {name: _settings(wanted) for name, wanted in asked.items()}
        if len({str(each) for each in settings.values()}) > 1:
            with_it = ", ".join(name for name, wanted in asked.items() if wanted is not None)
            raise ConfigError(
                f"fgm goes through every micro-batch twice, of whichever task, but only {with_it} have it, or have "
                "it otherwise. Give all tasks the same task.members.NAME/adversarial=fgm, without task.pretraining, or "
                "use smart, which each may have for itself."
            )
        self._second_pass = next(iter(asked.values()))

    def forward(self, model: Any, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Loss:
        """Sums and counts of a batch, by its own objective."""
        rest = {name: tensor for name, tensor in batch.items() if name != MEMBER}
        return self.members[batch[MEMBER].shape[1]](model, rest)

    def flops_per_token(self, model: Any, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length`; heads are not counted."""
        return model.flops_per_token(length)

    @property
    def second_pass(self) -> Callable[[nn.Module], AbstractContextManager[None]] | None:
        """As in TaskObjective."""
        return self._second_pass


def _settings(second_pass: Any) -> Any:
    return None if second_pass is None else (type(second_pass.__self__).__name__, vars(second_pass.__self__))
