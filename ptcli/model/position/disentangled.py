import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import Distances, places_apart, scores_by_row
from ptcli.model.initialization import dropout as dropout_of
from ptcli.model.shape import Shape


class DisentangledPositions(nn.Module):
    """Content and distance have vectors of their own, and scores are a sum over who looks at what ("DeBERTa",
    arXiv:2006.03654): content at content, content at position, position at content, all over the root of their number.

    One learned table of distances serves all layers; each projects it to keys and queries by matrices of its own, or,
    with `share_projections`, by those of the content (versions 2 and 3, arXiv:2111.09543). The paper's position to
    content takes the distance the other way round; this is what the released models compute.

    `max_distance`: distances are told apart from -max_distance to max_distance - 1. `num_buckets`: None, or classes of
    distance that widen with the logarithm beyond half their number: `log_buckets`. `norm_eps`: that of a norm over the
    table, None for no norm. `dropout`: of the table.
    """

    enters = "score"
    extrapolates = True

    def __init__(
        self,
        shape: Shape,
        *,
        max_distance: int = 512,
        num_buckets: int | None = None,
        content_to_content: bool = True,
        content_to_position: bool = True,
        position_to_content: bool = True,
        share_projections: bool = False,
        norm_eps: float | None = None,
        dropout: float = 0.1,
    ):
        super().__init__()
        where = "model.position.disentangled"
        if max_distance < 1:
            raise ConfigError(f"{where}.max_distance={max_distance} must be at least 1.")
        if num_buckets is not None and (num_buckets < 4 or num_buckets % 2 or max_distance <= num_buckets // 2 + 1):
            raise ConfigError(
                f"{where}.num_buckets={num_buckets} must be even, at least 4, and less than twice "
                f"{where}.max_distance={max_distance}. Use {where}.num_buckets=null for a row for each distance."
            )
        if not (content_to_position or position_to_content):
            raise ConfigError(
                f"{where}.content_to_position=false with position_to_content=false leaves positions nothing to do. "
                f"Switch one on, or use model/position=none."
            )
        if not 0 <= dropout < 1:
            raise ConfigError(f"{where}.dropout={dropout} must lie in [0, 1).")
        self.reach = max_distance if num_buckets is None else num_buckets
        self.max_distance, self.num_buckets = max_distance, num_buckets
        self.table = nn.Embedding(2 * self.reach, shape.hidden_size)
        self.norm = None if norm_eps is None else nn.LayerNorm(shape.hidden_size, eps=norm_eps)
        self.shape = shape
        self.terms = (content_to_content, content_to_position, position_to_content)
        self.share_projections, self.dropout = share_projections, dropout

    def relation(self) -> "DisentangledRelation":
        """What each attention layer owns."""
        content, keys, queries = self.terms
        return DisentangledRelation(
            self.shape,
            max_rows=2 * self.reach,
            grows=self.num_buckets is None,
            content=content,
            keys=keys,
            queries=queries,
            share_projections=self.share_projections,
            dropout=self.dropout,
        )

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Distances:
        """What all layers read: row max_distance is distance 0, later rows are keys farther back."""
        apart = places_apart(position_ids)
        if self.num_buckets is not None:
            apart, reach = log_buckets(apart, num_buckets=self.num_buckets, max_distance=self.max_distance), self.reach
            table = self.table.weight
        else:  # a row's distances reach no farther than it is long
            reach = torch.sym_min(position_ids.shape[1], self.reach)
            table = self.table.weight[self.reach - reach : self.reach + reach]
        if self.norm is not None:
            table = self.norm(table)
        return Distances((apart + reach).clamp(0, 2 * reach - 1), table)


def log_buckets(apart: Int[Tensor, "..."], *, num_buckets: int, max_distance: int) -> Int[Tensor, "..."]:
    """Signed classes of distances: itself up to half of `num_buckets`, then wider with the logarithm.

    Distance max_distance - 1 falls into the last class, num_buckets - 1.
    """
    half = num_buckets // 2
    distance = apart.abs()
    grown = torch.log(distance.clamp_min(half).float() / half) / math.log((max_distance - 1) / half)
    far = (torch.ceil(grown * (half - 1)) + half).long()
    return torch.where(distance <= half, apart, far * apart.sign())


class DisentangledRelation(nn.Module):
    """How one layer reads the table of distances. `content`, `keys`, `queries`: which of the three scores it takes.

    `max_rows`: of the table; where it `grows`, no more than twice a row's length are read.
    """

    changes_values = False

    def __init__(
        self,
        shape: Shape,
        *,
        content: bool,
        keys: bool,
        queries: bool,
        share_projections: bool,
        dropout: float,
        max_rows: int,
        grows: bool,
    ):
        super().__init__()
        self.max_rows, self.grows = max_rows, grows
        self.content, self.keys, self.queries = content, keys, queries
        self.extra_scores = int(keys) + int(queries) - (0 if content else 1)
        self.shape = shape
        self.dropout = dropout_of(dropout)
        own = not share_projections
        self.key = nn.Linear(shape.hidden_size, shape.hidden_size, bias=False) if own and keys else None
        self.query = nn.Linear(shape.hidden_size, shape.hidden_size) if own and queries else None
        self.share_projections = share_projections

    def forward(
        self,
        query: Float[Tensor, "B h S d"],
        key: Float[Tensor, "B h S d"],
        distances: Distances,
        *,
        scale: float,
        project: Callable[[Tensor], Tensor],
    ) -> Float[Tensor, "B h S S"]:
        """What is added to the scores; `query` is scaled already. `project`: to queries, keys and values."""
        assert distances.table is not None
        table = self.dropout(distances.table)
        if self.share_projections:
            position_query, position_key, _ = project(table).chunk(3, -1)
        else:
            position_query = self.query(table) if self.query is not None else None
            position_key = self.key(table) if self.key is not None else None
        scores: list[Tensor] = []
        if self.keys:
            scores.append(scores_by_row(query, self._heads(position_key), distances.index))
        if self.queries:
            by_key = scores_by_row(key, self._heads(position_query) * scale, distances.index.transpose(1, 2))
            scores.append(by_key.transpose(2, 3))
        return sum(scores[1:], start=scores[0])

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations for each token, for one head; the projection of the table is not counted."""
        return 2 * (self.keys + self.queries) * self._rows_read(length) * self.shape.head_size

    def flops_per_batch(self, length: int) -> int:
        """Floating-point operations of the projection of the table, for rows of `length`."""
        projections = 3 if self.share_projections else self.keys + self.queries
        return 2 * projections * self._rows_read(length) * self.shape.hidden_size**2

    def _rows_read(self, length: int) -> int:
        return min(2 * length, self.max_rows) if self.grows else self.max_rows

    def _heads(self, rows: Tensor | None) -> Float[Tensor, "h P d"]:
        assert rows is not None
        return rows.unflatten(-1, (-1, self.shape.head_size)).transpose(0, 1)
