"""What a metric says of a whole set of rows: a value, how far it would move with other rows, or why there is none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from ptcli.errors import ConfigError, DataError

LOWER_IS_BETTER = frozenset({"cross_entropy", "mean_absolute_error", "mean_squared_error"})
"""The metrics that fall as a model gets better; all others rise."""


class UndefinedError(Exception):
    """Raised by a metric that these rows do not determine; the message says why."""


class Outcomes(Protocol):
    """The truth and the predictions of N units (rows, sentences, questions): what a metric is a function of."""

    def __len__(self) -> int: ...

    def take(self, places: np.ndarray) -> Self:
        """The same of the units at `places` (int64, also more than once)."""
        ...

    def remark_on(self, metric: str) -> str:
        """What makes a metric of these units doubtful, such as one prediction for all; empty where nothing does."""
        ...


Metric = Callable[[Any], float]


@dataclass(frozen=True)
class Score:
    """A metric's value over the whole set and its 95 % bootstrap interval; None where they are undefined.

    `remark` says why there is no value, or no interval, or what to doubt; empty where all is well.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    remark: str = ""


def doubts(scores: Mapping[str, Score]) -> list[str]:
    """Each remark once, behind the names of the metrics that it is about."""
    names: dict[str, list[str]] = {}
    for name, score in scores.items():
        if score.remark:
            names.setdefault(score.remark, []).append(name)
    return [f"{', '.join(about)}: {remark}" for remark, about in names.items()]


def chosen(metrics: Mapping[str, Metric], names: Sequence[str]) -> dict[str, Metric]:
    """The metrics of these names in their order. Raises ConfigError where a name is none of this kind of task."""
    for name in names:
        if name not in metrics:
            raise ConfigError(
                f"task.metrics has {name!r}, which is no metric of this kind of task. "
                f"Choose from: {', '.join(metrics)}."
            )
    return {name: metrics[name] for name in names}


def measure(
    outcomes: Outcomes,
    metrics: Mapping[str, Metric],
    *,
    groups: np.ndarray | None = None,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Score]:
    """Each metric over all units at once, with a percentile interval from `resamples` bootstrap samples (0: none).

    Efron, "Bootstrap methods: another look at the jackknife" (1979). `groups` (N,) are any integers: units of one group
    (the paragraphs of an article, the candidates of a query) are drawn together. All metrics see the same samples.
    """
    samples = list(_samples(len(outcomes), groups, resamples, seed))
    return {name: _score(outcomes, name, metric, samples, level) for name, metric in metrics.items()}


def judged(rows: Sequence[Any], predictions: Sequence[Any]) -> list[int]:
    """The places of the rows that have a label. Raises DataError where rows and predictions differ in number."""
    if len(rows) != len(predictions):
        raise DataError(f"there are {len(predictions):,} predictions for {len(rows):,} rows; give one for each row.")
    return [place for place, row in enumerate(rows) if row.label is not None]


def _score(outcomes: Outcomes, name: str, metric: Metric, samples: list[np.ndarray], level: float) -> Score:
    if not len(outcomes):
        return Score(None, remark="no row has a label")
    try:
        value = metric(outcomes)
    except UndefinedError as error:
        return Score(None, remark=str(error))
    drawn, undefined = [], 0
    for places in samples:
        try:
            drawn.append(metric(outcomes.take(places)))
        except UndefinedError:
            undefined += 1
    if not drawn:
        return Score(value, remark=outcomes.remark_on(name))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    lacking = f"undefined in {undefined} of {len(samples)} bootstrap samples" if undefined else ""
    return Score(value, float(low), float(high), "; ".join(filter(None, [outcomes.remark_on(name), lacking])))


def _samples(number: int, groups: np.ndarray | None, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """The places of each bootstrap sample; nothing where fewer than two units, or groups, could be drawn."""
    generator = np.random.Generator(np.random.Philox(seed))
    members = _members(groups) if groups is not None else None
    num_drawn = len(members) if members is not None else number
    for _ in range(resamples if num_drawn > 1 else 0):
        drawn = generator.integers(num_drawn, size=num_drawn)
        yield drawn if members is None else np.concatenate([members[group] for group in drawn])


def _members(groups: np.ndarray) -> list[np.ndarray]:
    _, place = np.unique(groups, return_inverse=True)
    order = np.argsort(place, kind="stable")
    return np.split(order, np.cumsum(np.bincount(place))[:-1])
