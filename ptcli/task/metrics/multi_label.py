"""Metrics of any number of classes a row; values are scikit-learn's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.task.labels import number_of
from ptcli.task.metrics.classification import area_under_curve
from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row


@dataclass(frozen=True)
class MultiLabelOutcomes:
    """N rows, C classes, each of which a row has or has not."""

    truth: np.ndarray  # bool (N, C)
    predicted: np.ndarray  # bool (N, C)
    probabilities: np.ndarray  # float64 (N, C), each class for itself

    def __len__(self) -> int:
        return self.truth.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the rows at `places`."""
        return replace(
            self,
            truth=self.truth[places],
            predicted=self.predicted[places],
            probabilities=self.probabilities[places],
        )

    def remark_on(self, metric: str) -> str:
        """Says where no row gets a class."""
        return "" if self.predicted.any() else f"none of the {len(self):,} rows is predicted to have a class"


def outcomes_of(
    predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]
) -> MultiLabelOutcomes:
    """Predictions (`labels`, `probabilities` by label) against the rows that have labels; () is a label, too.

    Raises DataError where a row has a label that is none of `labels`.
    """
    places = judged(rows, predictions)
    numbers = {label: number for number, label in enumerate(labels)}
    shape = (len(places), len(labels))
    truth = np.zeros(shape, bool)
    for which, place in enumerate(places):
        row = rows[place]
        truth[which, [number_of(label, numbers, source=row.source) for label in row.label]] = True
    return MultiLabelOutcomes(
        truth=truth,
        predicted=np.array([[label in predictions[p]["labels"] for label in labels] for p in places], bool).reshape(
            shape
        ),
        probabilities=np.array(
            [[predictions[p]["probabilities"][label] for label in labels] for p in places], np.float64
        ).reshape(shape),
    )


def accuracy(outcomes: MultiLabelOutcomes) -> float:
    """Share of rows with exactly the right classes."""
    return float((outcomes.truth == outcomes.predicted).all(axis=1).mean())


def f1_micro(outcomes: MultiLabelOutcomes) -> float:
    """F1 over all pairs of a row and a class."""
    right, both = _counts(outcomes)
    return float(2 * right.sum() / both.sum())


def f1_macro(outcomes: MultiLabelOutcomes) -> float:
    """Mean F1 of the classes that occur, in truth or prediction."""
    right, both = _counts(outcomes)
    return float((2 * right[both > 0] / both[both > 0]).mean())


def roc_auc(outcomes: MultiLabelOutcomes) -> float:
    """Mean over the classes that some rows have and some have not of the area under the curve of their probability."""
    columns = np.flatnonzero(outcomes.truth.any(axis=0) & ~outcomes.truth.all(axis=0))
    if not len(columns):
        raise UndefinedError("no class is there in some rows and absent in others")
    return float(np.mean([area_under_curve(outcomes.truth[:, c], outcomes.probabilities[:, c]) for c in columns]))


def average_precision(outcomes: MultiLabelOutcomes) -> float:
    """Mean over the classes that occur of the average precision of their probability."""
    from sklearn.metrics import average_precision_score

    columns = np.flatnonzero(outcomes.truth.any(axis=0))
    if not len(columns):
        raise UndefinedError("no row has a class")
    return float(
        np.mean([average_precision_score(outcomes.truth[:, c], outcomes.probabilities[:, c]) for c in columns])
    )


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "f1_micro": f1_micro,
    "f1_macro": f1_macro,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
}


def _counts(outcomes: MultiLabelOutcomes) -> tuple[np.ndarray, np.ndarray]:
    """For each class, rows that rightly get it, and rows that have it and rows that get it, added: int64 (C,) each."""
    right = (outcomes.truth & outcomes.predicted).sum(axis=0)
    both = outcomes.truth.sum(axis=0) + outcomes.predicted.sum(axis=0)
    if not both.any():
        raise UndefinedError("no row has a class, and none is predicted to have one")
    return right, both
