import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import Distances, places_apart, rows_by_weight, scores_by_row, waves
from ptcli.model.shape import Shape


class NezhaPositions(nn.Module):
    """Fixed waves of the distance are added to keys and values in every layer ("NEZHA", arXiv:1909.00204): score
    q.(k + a), output sum p (v + a).

    One table of head size serves keys and values, all heads and all layers; nothing is learned. All that is farther
    than `max_distance` counts as that far.
    """

    enters = "value"
    extrapolates = True

    def __init__(self, shape: Shape, *, max_distance: int = 64, base: float = 10000.0):
        super().__init__()
        if max_distance < 1:
            raise ConfigError(f"model.position.nezha.max_distance={max_distance} must be at least 1.")
        if base <= 1:
            raise ConfigError(f"model.position.nezha.base={base} must be above 1.")
        self.head_size, self.max_distance, self.base = shape.head_size, max_distance, base

    def relation(self) -> "NezhaRelation":
        """What each attention layer holds: no weights."""
        return NezhaRelation((2 * self.max_distance + 1) * self.head_size)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Distances:
        """What all layers read: row r is the wave of place r, from far ahead of the key to far behind it, float32."""
        index = (-places_apart(position_ids)).clamp(-self.max_distance, self.max_distance) + self.max_distance
        rows = torch.arange(2 * self.max_distance + 1, device=position_ids.device)
        return Distances(index, waves(rows, self.head_size, base=self.base))


class NezhaRelation(nn.Module):
    """Reads the shared table by query, and by attention weight."""

    content = True
    extra_scores = 0
    changes_values = True

    def __init__(self, table_size: int):
        super().__init__()
        self.table_size = table_size

    def forward(
        self, query: Float[Tensor, "B h S d"], key: Tensor, distances: Distances, **_
    ) -> Float[Tensor, "B h S S"]:
        """What is added to the scores."""
        assert distances.table is not None
        return scores_by_row(query, distances.table[None], distances.index)

    def values(self, probabilities: Float[Tensor, "B h S S"], distances: Distances) -> Float[Tensor, "B h S d"]:
        """What is added to the attention's output."""
        assert distances.table is not None
        return rows_by_weight(probabilities, distances.table, distances.index)

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations for each token, for one head."""
        return 2 * 2 * self.table_size

    def flops_per_batch(self, length: int) -> int:
        """None: the table is read as it is."""
        return 0
