"""How long to train, and how often to do something on the way."""

import math

from ptcli.errors import ConfigError
from ptcli.trainer.state import TrainingState

_ROUNDING = 1e-9  # shares are sums of rounded numbers


class Budget:
    """Exactly one of: optimiser steps, real tokens, epochs (passes over the data), minutes of wall time.

    Minutes count training, evaluation and saving, so that a run of 3 minutes is over after 3 minutes, but for its last
    evaluation. Runs by minutes do not repeat bitwise: the schedule follows the clock.
    """

    def __init__(
        self,
        *,
        steps: int | None = None,
        tokens: int | None = None,
        epochs: float | None = None,
        minutes: float | None = None,
    ):
        given = {
            name: value
            for name, value in {"steps": steps, "tokens": tokens, "epochs": epochs, "minutes": minutes}.items()
            if value is not None
        }
        if len(given) != 1:
            typed = " ".join(f"budget.{name}={value:g}" for name, value in given.items()) or "none is set"
            raise ConfigError(
                f"Exactly one budget is needed ({typed}). Give budget.steps=, tokens=, epochs= or minutes=."
            )
        ((self.unit, self.amount),) = given.items()
        if not 0 < self.amount < math.inf:
            raise ConfigError(f"budget.{self.unit}={self.amount:g}: it must be above 0.")

    @property
    def total_steps(self) -> int | None:
        """The number of optimiser steps where the budget counts them."""
        return int(self.amount) if self.unit == "steps" else None

    def share(self, state: TrainingState) -> float:
        """How much of the budget is behind, in [0, 1]."""
        spent = {"steps": state.step, "tokens": state.tokens, "epochs": state.epoch, "minutes": state.seconds / 60}
        return min(1.0, spent[self.unit] / self.amount)

    def done(self, state: TrainingState) -> bool:
        """Whether nothing is left."""
        return self.share(state) >= 1.0

    def as_dict(self) -> dict[str, float]:
        """{"steps": 1000}."""
        return {self.unit: self.amount}


def is_due(every: float, *, step: int, before: float, after: float) -> bool:
    """Whether something that happens `every` so often falls on the step just done, the `step`-th of the run.

    `every`: from 1 on, a number of steps; below 1, a share of the budget; 0, never. `before`, `after`: the budget's
    shares before and after the step. A step that crosses several marks is due once.
    """
    if every <= 0:
        return False
    if every >= 1:
        return step % int(every) == 0
    return math.floor(after / every + _ROUNDING) > math.floor(before / every + _ROUNDING)


def check_every(name: str, every: float) -> None:
    """Raise ConfigError where `every` is neither a whole number of steps, nor a share, nor 0."""
    if not 0 <= every < math.inf or (every >= 1 and every != int(every)):
        raise ConfigError(
            f"{name}={every:g}: a whole number of steps, or a share of the budget below 1, or 0 for never."
        )
