from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.initialization import Initializer
from ptcli.task.places import Places


class MeanPooling(nn.Module):
    """The mean over all tokens of the example, special ones included (Sentence-BERT, arXiv:1908.10084)."""

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        places = Places(batch)
        return places.sum(hidden.flatten(0, 1).float()) / places.counts().clamp(min=1)[:, None]
