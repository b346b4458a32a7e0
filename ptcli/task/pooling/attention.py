from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.initialization import Initializer
from ptcli.task.places import Places


class AttentionPooling(nn.Module):
    """A mean of the example's tokens whose weights are learned: softmax over w . tanh(W h) ("Hierarchical Attention
    Networks", Yang et al., NAACL 2016). It starts as nearly the plain mean.
    """

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.score = nn.Linear(hidden_size, 1, bias=False)
        (initializer or Initializer()).start(self)

    def forward(
        self, hidden: Float[Tensor, "B S H"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, "E H"]:
        """A vector for each example."""
        places, states = Places(batch), hidden.flatten(0, 1)
        scores = self.score(torch.tanh(self.dense(states)))[:, 0].float()
        shares = places.log_softmax(scores, places.owner < places.num_examples).exp()
        return places.sum(shares[:, None] * states.float())
