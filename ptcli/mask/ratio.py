"""The share of tokens that is masked, as a function of the optimiser step."""

from collections.abc import Callable, Sequence

import numpy as np

from ptcli.errors import ConfigError

RATIO_SCHEDULES: dict[str, Callable[[float], float] | None] = {
    "constant": None,
    "linear": lambda place: place % 1,
    "cosine": lambda place: (1 - np.cos(np.pi * (place % 1))) / 2,
    "steps": None,
}
"""What `mask.ratio_schedule` may be, with the share of the way from one ratio to the next that is behind."""


class RatioSchedule:
    """The ratios `ratio`, then `later`, reached one after the other in equal parts of `steps` optimiser steps.

    `linear` and `cosine` go from each to the next (with a ratio r that falls to 0: Ankner et al., arXiv 2305.15096),
    `steps` stays at each and jumps. After the last step the ratio stays. `steps` None: only `mean` is known.
    """

    def __init__(self, *, ratio: float, later: Sequence[float], schedule: str, steps: int | None):
        self.ratios = (_checked_ratio("mask.ratio", ratio), *_checked_later(later))
        if schedule not in RATIO_SCHEDULES:
            raise ConfigError(f"mask.ratio_schedule={schedule} is unknown; choose one of {', '.join(RATIO_SCHEDULES)}")
        if self.constant != (schedule == "constant"):
            raise ConfigError(
                f"mask.ratio_schedule={schedule} needs ratios to go to: write mask.later_ratios=[0.15]"
                if self.constant
                else f"mask.later_ratios={list(later)} are never reached with mask.ratio_schedule=constant: write "
                "mask.ratio_schedule=linear, cosine or steps"
            )
        self._schedule, self._steps = schedule, steps

    @property
    def constant(self) -> bool:
        """Whether there is but one ratio."""
        return len(self.ratios) == 1

    @property
    def highest(self) -> float:
        """The highest ratio at any step."""
        return max(self.ratios)

    @property
    def mean(self) -> float:
        """The average over the schedule: the constant ratio that evaluations use."""
        if self._schedule == "steps":
            return float(np.mean(self.ratios))
        return float(np.mean([(a + b) / 2 for a, b in zip(self.ratios, self.ratios[1:], strict=False)] or self.ratios))

    def at(self, step: int | None) -> float:
        """The ratio at an optimiser step, counted from 0; at None, the mean."""
        if self.constant:
            return self.ratios[0]
        if step is None:
            return self.mean
        assert self._steps is not None, "a schedule without its number of steps has a mean only"
        way = RATIO_SCHEDULES[self._schedule]
        num_parts = len(self.ratios) - (way is not None)
        place = min(step / self._steps, 1.0) * num_parts
        part = min(int(place), len(self.ratios) - 1)
        if way is None or part == num_parts:
            return self.ratios[part]
        return float(self.ratios[part] + (self.ratios[part + 1] - self.ratios[part]) * way(place))


def is_number(value: object) -> bool:
    """A plain number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked_ratio(key: str, ratio: float) -> float:
    if not is_number(ratio):
        raise ConfigError(f"{key}={ratio} is not a number; write a share such as 0.15")
    if ratio > 1:
        hint = f"; write {ratio / 100:g}" if 1 < ratio <= 100 else ""
        raise ConfigError(f"{key}={ratio:g} means {100 * ratio:g} %{hint}. It is a share in (0, 1]")
    if not ratio > 0:  # nan as well
        raise ConfigError(f"{key}={ratio:g}: a share in (0, 1] is masked; write 0.15")
    return float(ratio)


def _checked_later(later: Sequence[float]) -> list[float]:
    if isinstance(later, str) or not isinstance(later, Sequence):
        raise ConfigError(f"mask.later_ratios={later}: write a list of shares, such as [0.15], or [] for none")
    return [0.0 if ratio == 0 and is_number(ratio) else _checked_ratio("mask.later_ratios", ratio) for ratio in later]
