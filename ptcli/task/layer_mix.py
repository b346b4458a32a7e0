from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.errors import ConfigError


class LayerMix(nn.Module):
    """A weighted mean of the states of several layers, times one more number: both learned (ELMo, arXiv:1802.05365).

    It starts as the plain mean. `num_layers`: the last so many; the embeddings count as one more layer below the first.
    Where a norm ends the model, it is put behind every layer that is mixed.
    """

    def __init__(self, model: Any, *, num_layers: int):
        super().__init__()
        most = len(model.layers()) + 1
        if not 2 <= num_layers <= most:
            raise ConfigError(
                f"task.mix_layers={num_layers} must lie between 2 and {most} (layers, and the embeddings), or be null "
                "for the last layer alone."
            )
        self.num_layers = num_layers
        self.weights = nn.Parameter(torch.zeros(num_layers))
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, model: Any, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Float[Tensor, "B S H"]:
        """The mixed states."""
        contexts, hidden = model.contexts(batch), model.embed(batch)
        states = [hidden]
        for layer in range(len(model.layers())):
            hidden = model.run(hidden, contexts, layers=range(layer, layer + 1))
            states.append(hidden)
        kept = torch.stack([model.finish(state) for state in states[-self.num_layers :]])
        return self.factor * torch.tensordot(self.weights.softmax(0).to(kept.dtype), kept, dims=1)
