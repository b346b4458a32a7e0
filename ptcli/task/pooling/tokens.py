"""Where each token has a label of its own, or may begin an answer, nothing is pooled."""

from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor, nn


class LabelledTokens(nn.Module):
    """The state of the first token of each word (BERT's way of tagging, arXiv:1810.04805)."""

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "T H"]:
        """A vector for each of the batch's token_positions."""
        return hidden.flatten(0, 1).index_select(0, batch["token_positions"])


class EveryPlace(nn.Module):
    """The state of every place of the batch, padding included."""

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "N H"]:
        """A vector for each place."""
        return hidden.flatten(0, 1)
