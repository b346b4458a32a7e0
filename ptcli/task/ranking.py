"""The candidates of a query in order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import Encoded
from ptcli.task.metrics import ranking as metrics
from ptcli.task.reading.record import Record
from ptcli.task.regression import number_in
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.texts import TextTask
from ptcli.tokenizer.tokenizer import Tokenizer


class Ranking(TextTask):
    """A row is a query and a candidate, its label how relevant that is: 0 or less not at all. Settings are Task's, and:

    Candidates with one `group` are compared; without a column for it, those of the same query text.

    Args:
        pair: the column of the candidate.
        relevant: the label of relevant candidates where labels are names (QNLI as a ranking, MT-DNN, arXiv:1901.11504);
            None: labels are numbers.
    """

    num_texts = 2
    target = "rank"
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("reciprocal_rank", "mean_average_precision")

    def __init__(self, *, pair: Column = "pair", relevant: str | None = None, **settings: Unpack[TaskSettings]):
        super().__init__(pair=pair, **settings)
        self.relevant = relevant

    def check(self) -> None:
        if self.pair is None:
            raise ConfigError("a ranking needs candidates. Name their column: task.pair=COLUMN.")
        super().check()

    def group_of(self, row: Row) -> str:
        """The candidates of a query stay together."""
        return metrics.query_of(row)

    def groups_of(self, rows: Sequence[Row]) -> None:
        """Nothing: what is measured are queries, whose candidates are a group each."""

    def texts_of(self, record: Record) -> dict[str, Any]:
        """Query and candidate; the query is the group where no column says another."""
        found = super().texts_of(record)
        return {**found, "group": found["texts"][0]}

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> float:
        """The relevance."""
        return number_in(value) if self.relevant is None else float(self.names.canonical(value) == self.relevant)

    def targets(self, rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
        """Relevance, float32 (R,)."""
        return np.array([np.nan if row.label is None else row.label for row in rows], np.float32)

    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """An example a candidate, numbered by query."""
        encoded = super().encode(rows, tokenizer=tokenizer, max_length=max_length, labels=labels)
        numbers: dict[str, int] = {}
        queries = [numbers.setdefault(self.group_of(row), len(numbers)) for row in rows]
        return replace(encoded, question_numbers=np.array(queries, np.int64))

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`score` of each row, of `scores` (R,), and its `rank` in its query, from 1; the earlier of equals first."""
        scores = outputs["scores"].astype(np.float64)
        queries: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            queries.setdefault(self.group_of(row), []).append(place)
        ranks = np.zeros(len(rows), np.int64)
        for places in queries.values():
            order = np.argsort(-scores[places], kind="stable")
            ranks[np.array(places)[order]] = np.arange(1, len(places) + 1)
        return [{"score": score, "rank": rank} for score, rank in zip(scores.tolist(), ranks.tolist(), strict=True)]

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows)
