"""A model that does not keep the examples of a row apart."""

import torch
from torch import nn

from ptcli.model.encoder import Encoder

from .build import encoder


class MeanOfRow(nn.Module):
    """Every position gathers the mean of all positions of the row that anyone sees, whichever example they are of."""

    accepts = frozenset()
    causal = False
    isolates = False

    def __init__(self, shape, *, dropout, relations=None):
        super().__init__()
        self.output = nn.Linear(shape.hidden_size, shape.hidden_size)

    def window(self, layer):
        return None

    def forward(self, hidden, context, queries=None):
        seen = torch.ones_like(hidden[..., 0]) if context.mask is None else (context.mask == 0).any(-2)[:, 0].float()
        mean = (hidden * seen[..., None]).sum(1, keepdim=True) / seen.sum(1)[:, None, None]
        return self.output(mean.expand_as(hidden))

    def flops_per_token(self, length):
        return 0

    def flops_per_batch(self, length):
        return 0


class _OneWhoClaims(MeanOfRow):
    isolates = True


def mixing_encoder(*, says_so: bool = True, **changes) -> Encoder:
    """A small encoder with that attention. `says_so`: false for one that claims to keep examples apart."""
    return encoder(attention=MeanOfRow if says_so else _OneWhoClaims, **changes)
