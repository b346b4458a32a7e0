"""Metrics of choosing one of several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.task.metrics.score import Metric, judged
from ptcli.task.rows import Row


@dataclass(frozen=True)
class ChoiceOutcomes:
    """N questions."""

    truth: np.ndarray  # int64 (N,): number of the right choice, from 0
    predicted: np.ndarray  # int64 (N,)
    right_probability: np.ndarray  # float64 (N,)

    def __len__(self) -> int:
        return self.truth.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the questions at `places`."""
        return replace(self, **{name: array[places] for name, array in vars(self).items()})

    def remark_on(self, metric: str) -> str:
        """Says where the same place is chosen throughout."""
        if len(self) > 1 and len(np.unique(self.predicted)) == 1:
            return f"choice {self.predicted[0]} (from 0) is predicted for all {len(self):,} questions"
        return ""


def outcomes_of(predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> ChoiceOutcomes:
    """Predictions (`choice`, `probabilities` in the choices' order) against the rows that have a label."""
    places = judged(rows, predictions)
    truth = [int(rows[place].label) for place in places]
    return ChoiceOutcomes(
        truth=np.array(truth, np.int64),
        predicted=np.array([predictions[place]["choice"] for place in places], np.int64),
        right_probability=np.array(
            [predictions[place]["probabilities"][right] for place, right in zip(places, truth, strict=True)], np.float64
        ),
    )


def accuracy(outcomes: ChoiceOutcomes) -> float:
    """Share of questions whose likeliest choice is the right one."""
    return float((outcomes.truth == outcomes.predicted).mean())


def cross_entropy(outcomes: ChoiceOutcomes) -> float:
    """Mean of -log of the right choice's probability, in nats; probabilities below 1e-12 count as that."""
    return float(-np.log(np.maximum(outcomes.right_probability, 1e-12)).mean())


METRICS: dict[str, Metric] = {"accuracy": accuracy, "cross_entropy": cross_entropy}
