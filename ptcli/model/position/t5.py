import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import places_apart
from ptcli.model.shape import Shape


class T5Positions(nn.Module):
    """One learned number for each head and class of distance, added to all layers' scores ("T5", arXiv:1910.10683).

    A quarter of the `num_buckets` classes holds one small distance each, before and behind apart; the rest widen with
    the logarithm up to `max_distance`, and all that is farther shares the last. Unlike T5, scores stay divided by the
    square root of the head size.
    """

    enters = "bias"
    extrapolates = True

    def __init__(self, shape: Shape, *, num_buckets: int = 32, max_distance: int = 128):
        super().__init__()
        if num_buckets < 4 or num_buckets % 4:
            raise ConfigError(
                f"model.position.t5.num_buckets={num_buckets} must be a multiple of 4: half for each direction, and "
                f"half of those for single distances. Use {max(num_buckets // 4, 1) * 4}."
            )
        if max_distance <= num_buckets // 4:
            raise ConfigError(
                f"model.position.t5.max_distance={max_distance} must be above {num_buckets // 4}, up to which each "
                f"distance has a class of its own."
            )
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.table = nn.Embedding(num_buckets, shape.num_heads)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B h S S"]:
        """What is added to the attention scores."""
        return self.table(self.buckets(-places_apart(position_ids))).permute(0, 3, 1, 2)

    def buckets(self, ahead: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
        """The class of each distance: how many places the key stands ahead of the query."""
        half = self.num_buckets // 2
        exact = half // 2
        distance = ahead.abs()
        grown = torch.log(distance.clamp_min(1).float() / exact) / math.log(self.max_distance / exact)
        far = (exact + (grown * (half - exact)).long()).clamp_max(half - 1)
        return torch.where(distance < exact, distance, far) + half * (ahead > 0)
