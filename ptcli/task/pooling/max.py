from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.initialization import Initializer
from ptcli.task.places import Places


class MaxPooling(nn.Module):
    """The largest value of each dimension over the example's tokens, special ones included (Sentence-BERT,
    arXiv:1908.10084).
    """

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        return Places(batch).max(hidden.flatten(0, 1).float(), least=torch.finfo(torch.float32).min)
