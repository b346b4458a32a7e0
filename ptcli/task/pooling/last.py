from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.initialization import Initializer
from ptcli.task.places import Places


class LastToken(nn.Module):
    """The state of the example's last token, which is what a left-to-right model has read all of (GPT, 2018)."""

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        places = Places(batch)
        last = places.max(torch.arange(places.owner.shape[0], device=hidden.device), least=0)
        return hidden.flatten(0, 1).index_select(0, last)
