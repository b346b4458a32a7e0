from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import Distances, places_apart, rows_by_weight, scores_by_row
from ptcli.model.shape import Shape


class ShawPositions(nn.Module):
    """A learned vector for each distance is added to the keys and to the values ("Self-Attention with Relative Position
    Representations", arXiv:1803.02155): score q.(k + a), output sum p (v + b).

    Each layer has tables of its own, which its heads share. All that is farther than `max_distance` counts as that far.
    `values=False` leaves the values alone, which the paper finds to be enough and lets attention run on its fast path.
    """

    enters = "value"
    extrapolates = True

    def __init__(self, shape: Shape, *, max_distance: int = 16, values: bool = True):
        super().__init__()
        if max_distance < 1:
            raise ConfigError(f"model.position.shaw.max_distance={max_distance} must be at least 1.")
        self.head_size, self.max_distance, self.values = shape.head_size, max_distance, values

    def relation(self) -> "ShawRelation":
        """What each attention layer owns."""
        return ShawRelation(2 * self.max_distance + 1, self.head_size, values=self.values)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Distances:
        """What all layers read: rows 0 to 2 max_distance, from far ahead of the key to far behind it."""
        index = (-places_apart(position_ids)).clamp(-self.max_distance, self.max_distance) + self.max_distance
        return Distances(index)


class ShawRelation(nn.Module):
    """The tables of one layer."""

    content = True
    extra_scores = 0

    def __init__(self, num_rows: int, head_size: int, *, values: bool):
        super().__init__()
        self.key = nn.Embedding(num_rows, head_size)
        self.value = nn.Embedding(num_rows, head_size) if values else None
        self.changes_values = values

    def forward(
        self, query: Float[Tensor, "B h S d"], key: Tensor, distances: Distances, **_
    ) -> Float[Tensor, "B h S S"]:
        """What is added to the scores."""
        return scores_by_row(query, self.key.weight[None], distances.index)

    def values(self, probabilities: Float[Tensor, "B h S S"], distances: Distances) -> Float[Tensor, "B h S d"]:
        """What is added to the attention's output."""
        assert self.value is not None
        return rows_by_weight(probabilities, self.value.weight, distances.index)

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations for each token, for one head."""
        return 2 * self.key.weight.numel() * (2 if self.changes_values else 1)

    def flops_per_batch(self, length: int) -> int:
        """None: the table is read as it is."""
        return 0
