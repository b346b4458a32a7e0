"""Metrics of answers cut from a text: the best of the right ones counts, and the mean is over all questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ptcli.task.metrics.answer_texts import chinese_exact, chinese_f1, english_exact, english_f1, english_words
from ptcli.task.metrics.score import Metric, UndefinedError, judged
from ptcli.task.rows import Row

Compare = Callable[[str, str], float]


@dataclass(frozen=True)
class AnswerOutcomes:
    """N questions, as places in texts that samples share, so that each answer is compared once."""

    predicted: tuple[str, ...]  # "" says that there is no answer
    truths: tuple[tuple[str, ...], ...]  # () says that there is none
    places: np.ndarray  # int64 (N,)
    known: dict[Compare, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.places.shape[0]

    def take(self, places: np.ndarray) -> Self:
        """The same of the questions at `places`."""
        return replace(self, places=self.places[places])

    def remark_on(self, metric: str) -> str:
        """Says where no question is answered although some have an answer."""
        if any(self.predicted[place] for place in self.places) or not self.answerable.any():
            return ""
        return f"none of the {len(self):,} questions is answered"

    @property
    def answerable(self) -> np.ndarray:
        """Whether each question has an answer, bool (N,)."""
        return np.array([bool(truths) for truths in self.truths], bool)[self.places]

    def best(self, compare: Compare) -> np.ndarray:
        """How like the prediction is to the right answer that is most like it, float64 (N,)."""
        if compare not in self.known:
            pairs = zip(self.predicted, self.truths, strict=True)
            self.known[compare] = np.array([max(compare(p, truth) for truth in truths or ("",)) for p, truths in pairs])
        return self.known[compare][self.places]


def outcomes_of(predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> AnswerOutcomes:
    """Predictions (`answer`) against the rows whose answers are known; () has none.

    As in SQuAD 2.0's script, right answers that hold no word are passed over while another one does.
    """
    places = judged(rows, predictions)
    return AnswerOutcomes(
        predicted=tuple(predictions[place]["answer"] for place in places),
        truths=tuple(_worded([answer.text for answer in rows[place].label]) for place in places),
        places=np.arange(len(places)),
    )


def exact_match(outcomes: AnswerOutcomes) -> float:
    """Share of questions answered to the word (SQuAD 1.1 and 2.0)."""
    return float(outcomes.best(english_exact).mean())


def f1(outcomes: AnswerOutcomes) -> float:
    """Mean F1 of words (SQuAD 1.1 and 2.0)."""
    return float(outcomes.best(english_f1).mean())


def exact_match_zh(outcomes: AnswerOutcomes) -> float:
    """Share of questions answered to the character (CMRC 2018)."""
    return float(outcomes.best(chinese_exact).mean())


def f1_zh(outcomes: AnswerOutcomes) -> float:
    """Mean F1 of characters (CMRC 2018)."""
    return float(outcomes.best(chinese_f1).mean())


def answerable_exact_match(outcomes: AnswerOutcomes) -> float:
    """exact_match of the questions that have an answer (SQuAD 2.0's HasAns)."""
    return _part(outcomes, english_exact, answerable=True)


def answerable_f1(outcomes: AnswerOutcomes) -> float:
    """F1 of the questions that have an answer (SQuAD 2.0's HasAns)."""
    return _part(outcomes, english_f1, answerable=True)


def unanswerable_accuracy(outcomes: AnswerOutcomes) -> float:
    """Share of the questions without an answer that get none (SQuAD 2.0's NoAns)."""
    return _part(outcomes, english_exact, answerable=False)


METRICS: dict[str, Metric] = {
    "exact_match": exact_match,
    "f1": f1,
    "exact_match_zh": exact_match_zh,
    "f1_zh": f1_zh,
    "answerable_exact_match": answerable_exact_match,
    "answerable_f1": answerable_f1,
    "unanswerable_accuracy": unanswerable_accuracy,
}


COMPARED: dict[str, Compare] = {
    "exact_match": english_exact,
    "f1": english_f1,
    "exact_match_zh": chinese_exact,
    "f1_zh": chinese_f1,
}
"""The metrics that are means over all questions, by what compares two answers."""


def _worded(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if english_words(text)) or tuple(texts)


def _part(outcomes: AnswerOutcomes, compare: Compare, *, answerable: bool) -> float:
    chosen = outcomes.answerable == answerable
    if not chosen.any():
        raise UndefinedError(f"every question has {'no' if answerable else 'an'} answer")
    return float(outcomes.best(compare)[chosen].mean())
