"""The part that schedules share: how far the run is, and how long a stretch of it is."""

from ptcli.errors import ConfigError


class Stretch:
    """A stretch of the run. `length` below 1 is a share of the budget; from 1 on it is a number of updates."""

    def __init__(self, length: float, *, key: str):
        if not 0 <= length < float("inf"):
            raise ConfigError(
                f"schedule.{key}={length}: a share of the budget in [0, 1), or a number of updates (>= 1)."
            )
        if length >= 1 and length != int(length):
            raise ConfigError(f"schedule.{key}={length}: from 1 on it counts updates. Write {int(length)}, or a share.")
        self.length, self.key = length, key

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where it does not fit the budget. `total_steps`: None unless the budget counts updates."""
        if self.length < 1:
            return
        if total_steps is None:
            raise ConfigError(
                f"schedule.{self.key}={self.length:g} counts updates, but the budget does not, so that the share left "
                "for the decay is unknown. Write it as a share of the budget, such as 0.06, or give budget.steps."
            )
        if self.length > total_steps:
            raise ConfigError(
                f"schedule.{self.key}={self.length:g} is longer than budget.steps={total_steps}. "
                "Write a share of the budget, such as 0.06, or a larger budget."
            )

    def of(self, total_steps: int | None) -> float:
        """Its length: in updates where the budget counts them (a share is rounded), or else as a share."""
        if total_steps is None:
            return float(self.length)
        return float(self.length if self.length >= 1 else round(self.length * total_steps))


class Warmup(Stretch):
    """A linear rise from 0 to 1.

    The update itself counts as done, so the first one is not lost: of W warming updates the last has factor 1.
    """

    def __init__(self, length: float):
        super().__init__(length, key="warmup")

    def scale(
        self, *, step: int, total_steps: int | None, before: float, after: float
    ) -> tuple[float, float, float, float]:
        """(warm-up's end, end of the budget, done before this update, done with it): updates, or else shares."""
        if total_steps is None:
            return self.of(None), 1.0, before, after
        return self.of(total_steps), float(total_steps), float(step), float(step + 1)


def rise(warm: float, reached: float) -> float:
    """The warm-up's factor in [0, 1] when `reached` (of the same unit as its end, `warm`) is behind."""
    return min(1.0, reached / warm) if warm > 0 else 1.0
