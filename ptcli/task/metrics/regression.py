"""Metrics of a number a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row


@dataclass(frozen=True)
class ValueOutcomes:
    """N rows of a number each."""

    truth: np.ndarray  # float64 (N,)
    predicted: np.ndarray  # float64 (N,)

    def __len__(self) -> int:
        return self.truth.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the rows at `places`."""
        return replace(self, truth=self.truth[places], predicted=self.predicted[places])

    def remark_on(self, metric: str) -> str:
        """Says where all rows get one number."""
        if len(self) > 1 and _constant(self.predicted):
            return f"all {len(self):,} rows are predicted to be {self.predicted[0]:.4g}"
        return ""


def outcomes_of(predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> ValueOutcomes:
    """Predictions (`value`) against the rows that have a label."""
    places = judged(rows, predictions)
    return ValueOutcomes(
        truth=np.array([rows[place].label for place in places], np.float64),
        predicted=np.array([predictions[place]["value"] for place in places], np.float64),
    )


def pearson(outcomes: ValueOutcomes) -> float:
    """Pearson's correlation of truth and prediction, -1 to 1."""
    _varied(outcomes)
    return float(np.corrcoef(outcomes.truth, outcomes.predicted)[0, 1])


def spearman(outcomes: ValueOutcomes) -> float:
    """Pearson's correlation of the ranks, equals sharing their mean rank (scipy)."""
    from scipy.stats import spearmanr

    _varied(outcomes)
    return float(spearmanr(outcomes.truth, outcomes.predicted)[0])  # pyright: ignore[reportArgumentType]


def pearson_spearman(outcomes: ValueOutcomes) -> float:
    """Mean of both correlations: GLUE's score of STS-B."""
    return (pearson(outcomes) + spearman(outcomes)) / 2


def mean_squared_error(outcomes: ValueOutcomes) -> float:
    """Mean of the squared differences."""
    return float(((outcomes.truth - outcomes.predicted) ** 2).mean())


def mean_absolute_error(outcomes: ValueOutcomes) -> float:
    """Mean of the differences' sizes."""
    return float(np.abs(outcomes.truth - outcomes.predicted).mean())


METRICS: dict[str, Metric] = {
    "pearson": pearson,
    "spearman": spearman,
    "pearson_spearman": pearson_spearman,
    "mean_squared_error": mean_squared_error,
    "mean_absolute_error": mean_absolute_error,
}


def _varied(outcomes: ValueOutcomes) -> None:
    for what, values in (("are labelled", outcomes.truth), ("are predicted to be", outcomes.predicted)):
        if not np.isfinite(values).all():
            raise UndefinedError(
                f"{int((~np.isfinite(values)).sum()):,} of {len(values):,} rows {what} no finite number"
            )
        if _constant(values):
            raise UndefinedError(f"all {len(values):,} rows {what} {values[0]:.4g}: a constant has no correlation")


def _constant(values: np.ndarray) -> bool:
    """Within float32's rounding, which is all that a model's outputs hold."""
    return float(np.ptp(values)) <= 1e-6 * max(1.0, float(np.abs(values).max()))
