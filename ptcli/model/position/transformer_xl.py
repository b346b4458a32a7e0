import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import Distances, places_apart, scores_by_row
from ptcli.model.shape import Shape


class TransformerXLPositions(nn.Module):
    """Scores see waves of the distance through a learned projection, and each head has two learned directions of its
    own ("Transformer-XL", arXiv:1901.02860; XLNet, arXiv:1906.08237): score (q + u).k + (q + v).W r.

    u, v and W are each layer's own, as in XLNet; u and v begin at 0. The waves are all sines, then all cosines.
    """

    enters = "score"
    extrapolates = True

    def __init__(self, shape: Shape, *, base: float = 10000.0):
        super().__init__()
        if base <= 1:
            raise ConfigError(f"model.position.transformer_xl.base={base} must be above 1.")
        if shape.hidden_size % 2:
            raise ConfigError(
                f"model/position=transformer_xl makes pairs of waves, but model.hidden_size={shape.hidden_size} is "
                f"odd. Use model.hidden_size={shape.hidden_size + 1}."
            )
        self.shape, self.base = shape, base

    def relation(self) -> "TransformerXLRelation":
        """What each attention layer owns."""
        return TransformerXLRelation(self.shape.hidden_size, self.shape.num_heads)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Distances:
        """What all layers read: the waves of distances 1 - S to S - 1, float32."""
        length = position_ids.shape[1]
        index = (places_apart(position_ids) + length - 1).clamp(0, 2 * length - 2)
        distances = torch.arange(1 - length, length, device=position_ids.device)
        exponents = torch.arange(0, self.shape.hidden_size, 2, device=position_ids.device) / self.shape.hidden_size
        angles = distances[:, None].float() * self.base**-exponents
        return Distances(index, torch.cat((angles.sin(), angles.cos()), -1))


class TransformerXLRelation(nn.Module):
    """The projection and the directions of one layer."""

    content = True
    extra_scores = 0
    changes_values = False

    def __init__(self, hidden_size: int, num_heads: int):
        super().__init__()
        self.head_size = hidden_size // num_heads
        self.projection = nn.Linear(hidden_size, hidden_size, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(num_heads, 1, self.head_size))
        self.position_bias = nn.Parameter(torch.zeros(num_heads, 1, self.head_size))

    def forward(
        self, query: Float[Tensor, "B h S d"], key: Float[Tensor, "B h S d"], distances: Distances, *, scale: float, **_
    ) -> Float[Tensor, "B h S S"]:
        """What is added to the scores; `query` is scaled already."""
        assert distances.table is not None
        rows = self.projection(distances.table.to(self.projection.weight.dtype))
        table = rows.unflatten(-1, (-1, self.head_size)).transpose(0, 1)  # (h, P, d_h)
        by_position = scores_by_row(query + self.position_bias.to(query.dtype) * scale, table, distances.index)
        by_content = (self.content_bias.to(key.dtype) * scale) @ key.transpose(2, 3)  # (B, h, 1, S)
        return by_position + by_content

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations for each token, for one head; the projection of the table is not counted."""
        return 2 * (2 * length - 1 + 1) * self.head_size

    def flops_per_batch(self, length: int) -> int:
        """Floating-point operations of the projection of the waves, for rows of `length`."""
        return 2 * (2 * length - 1) * self.projection.in_features * self.projection.out_features
