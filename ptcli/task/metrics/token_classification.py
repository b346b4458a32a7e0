"""Metrics of tags: share of right words, and F1 of whole entities, whose boundaries and types must both be right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ptcli.errors import DataError
from ptcli.task.metrics.entities import entities
from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row


@dataclass(frozen=True)
class TagOutcomes:
    """N sentences. Entities are counted by type, K types."""

    hits: np.ndarray  # int64 (N,): words with the right tag
    words: np.ndarray  # int64 (N,)
    right: np.ndarray  # int64 (N, K): entities in both truth and prediction
    predicted: np.ndarray  # int64 (N, K)
    truth: np.ndarray  # int64 (N, K)

    def __len__(self) -> int:
        return self.hits.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the sentences at `places`."""
        return replace(self, **{name: array[places] for name, array in vars(self).items()})

    def remark_on(self, metric: str) -> str:
        """Says where no entity is predicted although there are some."""
        return "no entity is predicted" if self.truth.any() and not self.predicted.any() else ""


def outcomes_of(predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> TagOutcomes:
    """Predictions (`tags`, one a word) against the rows that have tags. Raises DataError where their numbers differ."""
    places = judged(rows, predictions)
    sentences = []
    for place in places:
        truth, predicted = list(rows[place].label), list(predictions[place]["tags"])
        if len(truth) != len(predicted):
            raise DataError(f"{rows[place].source}: {len(predicted)} tags are predicted for {len(truth)} words.")
        sentences.append((truth, predicted, set(entities(truth)), set(entities(predicted))))
    types = sorted({name for *_, truth, predicted in sentences for name, _, _ in truth | predicted})
    columns = {name: number for number, name in enumerate(types)}
    right, guessed, true = (np.zeros((len(sentences), len(types)), np.int64) for _ in range(3))
    for number, (*_, truth, predicted) in enumerate(sentences):
        for found, counts in ((truth & predicted, right), (predicted, guessed), (truth, true)):
            for name, _, _ in found:
                counts[number, columns[name]] += 1
    return TagOutcomes(
        hits=np.array([sum(t == p for t, p in zip(s[0], s[1], strict=True)) for s in sentences], np.int64),
        words=np.array([len(s[0]) for s in sentences], np.int64),
        right=right,
        predicted=guessed,
        truth=true,
    )


def accuracy(outcomes: TagOutcomes) -> float:
    """Share of words with the right tag."""
    if not outcomes.words.sum():
        raise UndefinedError("no sentence has a word")
    return float(outcomes.hits.sum() / outcomes.words.sum())


def precision(outcomes: TagOutcomes) -> float:
    """Share of the predicted entities that are there."""
    if not outcomes.predicted.sum():
        raise UndefinedError("no entity is predicted")
    return float(outcomes.right.sum() / outcomes.predicted.sum())


def recall(outcomes: TagOutcomes) -> float:
    """Share of the entities that are predicted."""
    if not outcomes.truth.sum():
        raise UndefinedError("there is no entity")
    return float(outcomes.right.sum() / outcomes.truth.sum())


def f1(outcomes: TagOutcomes) -> float:
    """F1 of entities over all types (conlleval's)."""
    both = outcomes.predicted.sum() + outcomes.truth.sum()
    if not both:
        raise UndefinedError("there is no entity, and none is predicted")
    return float(2 * outcomes.right.sum() / both)


def f1_macro(outcomes: TagOutcomes) -> float:
    """Mean F1 of the types of entities that occur, in truth or prediction."""
    right, both = outcomes.right.sum(axis=0), (outcomes.predicted + outcomes.truth).sum(axis=0)
    if not both.any():
        raise UndefinedError("there is no entity, and none is predicted")
    return float((2 * right[both > 0] / both[both > 0]).mean())


METRICS: dict[str, Metric] = {
    "f1": f1,
    "f1_macro": f1_macro,
    "precision": precision,
    "recall": recall,
    "accuracy": accuracy,
}
