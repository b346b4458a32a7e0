from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.heads import Pooler
from ptcli.model.initialization import Initializer


class PooledToken(nn.Module):
    """The state of the classification token behind a dense layer and tanh (BERT, arXiv:1810.04805).

    It starts from the pooler that pretraining on pairs trained, where the checkpoint has one.
    """

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()
        self.pooler = Pooler(hidden_size)
        (initializer or Initializer()).start(self)

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        return self.pooler(hidden.flatten(0, 1).index_select(0, batch["example_positions"]))
