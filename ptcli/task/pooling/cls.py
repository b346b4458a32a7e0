from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.initialization import Initializer


class ClassificationToken(nn.Module):
    """The state of the classification token, as it is (RoBERTa, arXiv:1907.11692; BERT puts a pooler behind it)."""

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        return hidden.flatten(0, 1).index_select(0, batch["example_positions"])
