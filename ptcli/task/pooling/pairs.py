"""Two texts that are encoded apart, brought together behind the model."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn


class ComparedPairs(nn.Module):
    """Of two vectors u and v, the features [u, v, |u - v|, u * v] (InferSent, arXiv:1705.02364).

    `pooling` makes the vectors. The texts of a pair are the examples 2 i and 2 i + 1 of the batch.
    """

    width = 4  # times that of one vector

    def __init__(self, pooling: nn.Module):
        super().__init__()
        self.pooling = pooling

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "P W"]:
        """The features of each pair."""
        one, other = self.pooling(hidden, batch).unflatten(0, (-1, 2)).unbind(1)
        return torch.cat((one, other, (one - other).abs(), one * other), -1)
