"""Relative positions: one row of a table for each pair of places, read by queries, keys and attention weights."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Distances:
    """`index[b, i, j]`: the row of `table` that says where key j stands as seen from query i.

    `table`: None where each layer has one of its own.
    """

    index: Int[Tensor, "B S S"]
    table: Float[Tensor, "P W"] | None = None


def places_apart(position_ids: Int[Tensor, "B S"]) -> Int[Tensor, "B S S"]:
    """How far each query i stands behind each key j: the difference of their places, i - j."""
    return position_ids[:, :, None] - position_ids[:, None, :]


def scores_by_row(
    vectors: Float[Tensor, "B h S d"], table: Float[Tensor, "#h P d"], index: Int[Tensor, "B S S"]
) -> Float[Tensor, "B h S S"]:
    """The product of each vector with the rows that `index` names: vectors[b, h, i] . table[index[b, i, j]].

    All rows are multiplied first and picked afterwards, so that nothing of size S x S x d is made.
    """
    products = vectors @ table.to(vectors.dtype).transpose(-1, -2)  # (B, h, S, P)
    return products.gather(-1, index[:, None].expand(-1, vectors.shape[1], -1, -1))


def rows_by_weight(
    weights: Float[Tensor, "B h S S"], table: Float[Tensor, "P d"], index: Int[Tensor, "B S S"]
) -> Float[Tensor, "B h S d"]:
    """The weighted sum of the rows that `index` names: over j, weights[b, h, i, j] table[index[b, i, j]]."""
    totals = torch.zeros(*weights.shape[:3], table.shape[0], dtype=weights.dtype, device=weights.device)
    totals = totals.scatter_add(-1, index[:, None].expand(-1, weights.shape[1], -1, -1), weights)
    return totals @ table.to(weights.dtype)


def waves(places: Tensor, size: int, *, base: float) -> Float[Tensor, "... E"]:
    """Waves of these places (arXiv:1706.03762): feature 2i is sin(p / base^(2i/size)), 2i + 1 its cos."""
    exponents = torch.arange(0, size, 2, device=places.device, dtype=torch.float32) / size
    angles = places.unsqueeze(-1).float() * base**-exponents  # (..., size / 2), rounded up
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :size]
