"""Metrics of ordered candidates. Where scores are equal the relevant candidate comes last: sameness earns nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row


@dataclass(frozen=True)
class RankOutcomes:
    """N queries; NaN where a query has no relevant candidate."""

    first_rank: np.ndarray  # float64 (N,): rank of the best-ranked relevant candidate, from 1
    precision: np.ndarray  # float64 (N,): mean precision at the ranks of the relevant ones
    gain: np.ndarray  # float64 (N,): discounted cumulative gain over the best possible one
    constant: np.ndarray  # bool (N,): all candidates score the same

    def __len__(self) -> int:
        return self.first_rank.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the queries at `places`."""
        return replace(self, **{name: array[places] for name, array in vars(self).items()})

    def remark_on(self, metric: str) -> str:
        """Says what does not take part, and where scores are all the same."""
        said = []
        if without := int(np.isnan(self.first_rank).sum()):
            said.append(f"{without:,} of {len(self):,} queries have no relevant candidate and do not count")
        if len(self) and self.constant.all():
            said.append("the candidates of every query score the same")
        return "; ".join(said)


def outcomes_of(predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> RankOutcomes:
    """Predictions (`score`) against rows with a relevance: 0 or less is irrelevant. See `query_of`."""
    queries: dict[str, list[int]] = {}
    for place in judged(rows, predictions):
        queries.setdefault(query_of(rows[place]), []).append(place)
    measured = [
        _measured(
            np.array([float(rows[place].label) for place in places]),
            np.array([float(predictions[place]["score"]) for place in places]),
        )
        for places in queries.values()
    ]
    columns = np.array(measured, np.float64).reshape(-1, 4).T
    return RankOutcomes(*columns[:3], constant=columns[3].astype(bool))


def query_of(row: Row) -> str:
    """What the candidates of a query share: the row's group, else the text of the query."""
    return row.group if row.group is not None else row.texts[0]


def reciprocal_rank(outcomes: RankOutcomes) -> float:
    """Mean over queries of 1 / rank of the first relevant candidate (MRR)."""
    return _mean(1 / outcomes.first_rank)


def first_is_relevant(outcomes: RankOutcomes) -> float:
    """Share of queries whose first candidate is relevant (precision at 1)."""
    return _mean(np.where(np.isnan(outcomes.first_rank), np.nan, outcomes.first_rank == 1))


def mean_average_precision(outcomes: RankOutcomes) -> float:
    """Mean over queries of the mean precision at the ranks of the relevant candidates (MAP)."""
    return _mean(outcomes.precision)


def discounted_gain(outcomes: RankOutcomes) -> float:
    """Mean over queries of the relevance, divided by log2(1 + rank) and summed, over the best order's (NDCG)."""
    return _mean(outcomes.gain)


METRICS: dict[str, Metric] = {
    "reciprocal_rank": reciprocal_rank,
    "first_is_relevant": first_is_relevant,
    "mean_average_precision": mean_average_precision,
    "discounted_gain": discounted_gain,
}


def _measured(relevance: np.ndarray, scores: np.ndarray) -> tuple[float, float, float, bool]:
    order = np.lexsort((relevance, -scores))  # by falling score; of equals the least relevant first
    ranked = np.maximum(relevance[order], 0)
    ranks = np.flatnonzero(ranked > 0) + 1
    constant = len(scores) > 1 and bool(np.ptp(scores) == 0)
    if not len(ranks):
        return np.nan, np.nan, np.nan, constant
    discounts = 1 / np.log2(np.arange(len(ranked)) + 2)
    gain = (ranked @ discounts) / (np.sort(ranked)[::-1] @ discounts)
    return float(ranks[0]), float((np.arange(1, len(ranks) + 1) / ranks).mean()), float(gain), constant


def _mean(values: np.ndarray) -> float:
    if np.isnan(values).all():
        raise UndefinedError("no query has a relevant candidate")
    return float(np.nanmean(values))
