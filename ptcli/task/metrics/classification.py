"""Metrics of one class a row; the positive class of a two-class task is its second label.

Decisions are counted once into a table of classes, since a bootstrap asks a thousand times; values are scikit-learn's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.task.labels import number_of
from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row

_OF_PROBABILITIES = frozenset({"roc_auc", "average_precision", "cross_entropy"})


@dataclass(frozen=True)
class ClassOutcomes:
    """N rows of one class each."""

    truth: np.ndarray  # int64 (N,)
    probabilities: np.ndarray  # float64 (N, C), rows sum to 1
    labels: tuple[str, ...]  # C names, in the order of the classes

    def __len__(self) -> int:
        return self.truth.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the rows at `places`."""
        return replace(self, truth=self.truth[places], probabilities=self.probabilities[places])

    @property
    def predicted(self) -> np.ndarray:
        """The likeliest class, int64 (N,); the first of equals."""
        return self.probabilities.argmax(axis=1)

    def table(self) -> np.ndarray:
        """How many rows of each class are predicted to be of each, int64 (C, C): truth down, prediction across."""
        number = len(self.labels)
        return np.bincount(self.truth * number + self.predicted, minlength=number**2).reshape(number, number)

    def remark_on(self, metric: str) -> str:
        """Says where all rows get one class or, where the metric looks at probabilities, the same ones."""
        if len(self) < 2:
            return ""
        if metric in _OF_PROBABILITIES:
            same = float(np.ptp(self.probabilities, axis=0).max()) == 0
            return f"all {len(self):,} rows get the same probabilities" if same else ""
        classes = np.unique(self.predicted)
        return f"all {len(self):,} rows are predicted to be {self.labels[classes[0]]!r}" if len(classes) == 1 else ""


def outcomes_of(
    predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]
) -> ClassOutcomes:
    """Predictions (`probabilities` by label) against the rows that have a label.

    Raises DataError where a row's label is none of `labels`.
    """
    places = judged(rows, predictions)
    numbers = {label: number for number, label in enumerate(labels)}
    probabilities = [[predictions[place]["probabilities"][label] for label in labels] for place in places]
    truth = [number_of(rows[place].label, numbers, source=rows[place].source) for place in places]
    return ClassOutcomes(
        truth=np.array(truth, np.int64),
        probabilities=np.array(probabilities, np.float64).reshape(-1, len(labels)),
        labels=tuple(labels),
    )


def accuracy(outcomes: ClassOutcomes) -> float:
    """Share of rows whose likeliest class is the right one."""
    return float((outcomes.truth == outcomes.predicted).mean())


def precision(outcomes: ClassOutcomes) -> float:
    """Share of the rows predicted to be of the positive class that are."""
    _two_classes(outcomes, "precision")
    table = outcomes.table()
    if not table[:, 1].any():
        raise UndefinedError(f"no row is predicted to be {outcomes.labels[1]!r}")
    return float(table[1, 1] / table[:, 1].sum())


def recall(outcomes: ClassOutcomes) -> float:
    """Share of the rows of the positive class that are predicted to be."""
    _two_classes(outcomes, "recall")
    table = outcomes.table()
    if not table[1].any():
        raise UndefinedError(f"no row is {outcomes.labels[1]!r}")
    return float(table[1, 1] / table[1].sum())


def f1(outcomes: ClassOutcomes) -> float:
    """F1 of the positive class of two."""
    _two_classes(outcomes, "f1")
    value = _f1_of_classes(outcomes)[1]
    if np.isnan(value):
        raise UndefinedError(f"no row is {outcomes.labels[1]!r}, and none is predicted to be")
    return float(value)


def f1_macro(outcomes: ClassOutcomes) -> float:
    """Mean F1 of the classes that occur, in truth or prediction."""
    return float(np.nanmean(_f1_of_classes(outcomes)))


def f1_micro(outcomes: ClassOutcomes) -> float:
    """F1 over all decisions, which with one class a row is accuracy."""
    return accuracy(outcomes)


def matthews(outcomes: ClassOutcomes) -> float:
    """Matthews' correlation of truth and prediction, -1 to 1; 0 by convention where all predictions are one class.

    For more than two classes Gorodkin's ("Comparing two K-category assignments by a K-category correlation
    coefficient", 2004).
    """
    table = outcomes.table().astype(np.float64)
    truth, predicted, number = table.sum(axis=1), table.sum(axis=0), table.sum()
    spread = number**2 - truth @ truth, number**2 - predicted @ predicted
    if spread[0] == 0:
        raise UndefinedError(_one_class(outcomes))
    if spread[1] == 0:
        return 0.0
    return float((np.trace(table) * number - truth @ predicted) / np.sqrt(spread[0] * spread[1]))


def roc_auc(outcomes: ClassOutcomes) -> float:
    """Chance that a positive row scores above another one, equals counting half; more classes: the mean of each."""
    scores, truth = outcomes.probabilities, outcomes.truth
    present = np.unique(truth)
    if len(present) < 2:
        raise UndefinedError(_one_class(outcomes))
    classes = [1] if len(outcomes.labels) == 2 else present
    return float(np.mean([area_under_curve(truth == number, scores[:, number]) for number in classes]))


def area_under_curve(truth: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve by mid-ranks: truth bool (N,), with some of either; scores (N,)."""
    from scipy.stats import rankdata

    positive = int(truth.sum())
    above = rankdata(scores)[truth].sum() - positive * (positive + 1) / 2
    return float(above / (positive * (len(truth) - positive)))


def average_precision(outcomes: ClassOutcomes) -> float:
    """Mean precision over the recalls of the positive class, rows ordered by its probability."""
    from sklearn.metrics import average_precision_score

    _two_classes(outcomes, "average_precision")
    if not (outcomes.truth == 1).any():
        raise UndefinedError(f"no row is {outcomes.labels[1]!r}")
    return float(average_precision_score(outcomes.truth, outcomes.probabilities[:, 1]))


def cross_entropy(outcomes: ClassOutcomes) -> float:
    """Mean of -log of the right class's probability, in nats; probabilities below 1e-12 count as that."""
    right = outcomes.probabilities[np.arange(len(outcomes)), outcomes.truth]
    return float(-np.log(np.maximum(right, 1e-12)).mean())


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "f1": f1,
    "f1_macro": f1_macro,
    "f1_micro": f1_micro,
    "precision": precision,
    "recall": recall,
    "matthews": matthews,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
    "cross_entropy": cross_entropy,
}


def _f1_of_classes(outcomes: ClassOutcomes) -> np.ndarray:
    """float64 (C,); NaN for a class that occurs neither in truth nor in prediction."""
    table = outcomes.table()
    both = table.sum(axis=0) + table.sum(axis=1)
    return np.where(both > 0, 2 * np.diag(table) / np.maximum(both, 1), np.nan)


def _two_classes(outcomes: ClassOutcomes, name: str) -> None:
    if len(outcomes.labels) != 2:
        raise UndefinedError(
            f"{name} is of two classes, and there are {len(outcomes.labels)}; f1_macro takes any number"
        )


def _one_class(outcomes: ClassOutcomes) -> str:
    return f"all {len(outcomes):,} rows are {outcomes.labels[int(outcomes.truth[0])]!r}"
