"""Predictions of an order among the candidates of a query."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.metrics.ranking import query_of
from ptcli.task.rows import Row


def decode(scores: np.ndarray, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """`score` of each row, (N,), and its `rank` among those of its query, from 1; the earlier of equals first."""
    values = np.asarray(scores, np.float64).reshape(-1)
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        groups.setdefault(query_of(row), []).append(place)
    ranks = np.zeros(len(rows), np.int64)
    for places in groups.values():
        order = np.argsort(-values[places], kind="stable")
        ranks[np.array(places)[order]] = np.arange(1, len(places) + 1)
    return [{"score": score, "rank": rank} for score, rank in zip(values.tolist(), ranks.tolist(), strict=True)]
