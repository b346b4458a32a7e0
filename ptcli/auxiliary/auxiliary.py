"""What auxiliary losses share: a head on the hidden states of a model that learns something else beside."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.objective.loss import Scored


class Auxiliary(nn.Module, ABC):
    """A loss beside the objective's: `auxiliary=[a,b]` adds a and b, logged and evaluated by their names.

    What it asks about is made on the words side, by the `noise` of its own YAML, which adds columns to the batch.

    `column`: the added column by whose count the loss is divided; `predicts`: what, in a few words.
    """

    column: str
    predicts: str

    def __init__(self, *, weight: float = 1.0):
        super().__init__()
        if not weight > 0:
            raise ConfigError(
                f"auxiliary: weight={weight} must be above 0. For no such loss, leave it out of auxiliary=[]."
            )
        self.weight = weight

    @abstractmethod
    def forward(
        self, model: nn.Module, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Scored:
        """The predictions that are scored, from the model's hidden states."""
