"""The part that schedules share: how far the run is, and how much of the warm-up is behind it."""

from ptcli.errors import ConfigError


class Warmup:
    """A linear rise from 0 to 1. `length` below 1 is a share of the budget; from 1 on it is a number of updates.

    The update itself counts as done, so the first one is not lost: of W warming updates the last has factor 1.
    """

    def __init__(self, length: float):
        if not 0 <= length < float("inf"):
            raise ConfigError(
                f"schedule.warmup={length}: a share of the budget in [0, 1), or a number of updates (>= 1)."
            )
        if length >= 1 and length != int(length):
            raise ConfigError(
                f"schedule.warmup={length}: from 1 on it counts updates. Write {int(length)}, or a share."
            )
        self.length = length

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the warm-up does not fit the budget. `total_steps`: None unless it counts updates."""
        if self.length < 1:
            return
        if total_steps is None:
            raise ConfigError(
                f"schedule.warmup={self.length:g} counts updates, but the budget does not, so that the share left for "
                "the decay is unknown. Write the warm-up as a share of the budget, such as 0.06, or give budget.steps."
            )
        if self.length > total_steps:
            raise ConfigError(
                f"schedule.warmup={self.length:g} is longer than budget.steps={total_steps}. "
                "Write a share of the budget, such as 0.06, or a larger budget."
            )

    def scale(
        self, *, step: int, total_steps: int | None, before: float, after: float
    ) -> tuple[float, float, float, float]:
        """(warm-up's end, end of the budget, done before this update, done with it): updates, or else shares."""
        if total_steps is None:
            return self.length, 1.0, before, after
        length = self.length if self.length >= 1 else round(self.length * total_steps)
        return float(length), float(total_steps), float(step), float(step + 1)


def rise(warm: float, reached: float) -> float:
    """The warm-up's factor in [0, 1] when `reached` (of the same unit as its end, `warm`) is behind."""
    return min(1.0, reached / warm) if warm > 0 else 1.0
