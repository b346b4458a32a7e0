import math

from ptcli.errors import ConfigError
from ptcli.schedule.decay import check_factor, share_left
from ptcli.schedule.warmup import Stretch, Warmup, rise

SHAPES = ("linear", "one_minus_sqrt")


class WarmupStableDecay:
    """Warm-up, a long stretch at the full rate, a short decay at the end (MiniCPM, arXiv 2404.06395).

    With T updates of which the last D decay, update t (from 0) has the factor (T - t) / D there (linear), or
    1 - sqrt((t - T + D) / D) (one_minus_sqrt: arXiv 2405.18392, ModernBERT), at most 1.

    Args:
        warmup: share of the budget in [0, 1), or a number of updates from 1 on.
        decay: how long the decay takes, in the same way.
        shape: linear or one_minus_sqrt.
        final: the factor that the decay runs towards, in [0, 1].
    """

    decays = True

    def __init__(self, *, warmup: float = 0.06, decay: float = 0.1, shape: str = "linear", final: float = 0.0):
        check_factor("final", final)
        if shape not in SHAPES:
            raise ConfigError(f"schedule.shape={shape}: one of {', '.join(SHAPES)}.")
        self.warmup, self.decay = Warmup(warmup), Stretch(decay, key="decay")
        if warmup < 1 and decay < 1:
            self._refuse_overlap(warmup + decay > 1, "the whole budget")
        self.shape, self.final = shape, final

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where warm-up and decay do not fit the budget."""
        self.warmup.check(total_steps=total_steps)
        self.decay.check(total_steps=total_steps)
        if total_steps is not None and (self.warmup.length >= 1 or self.decay.length >= 1):
            together = self.warmup.of(total_steps) + self.decay.of(total_steps)
            self._refuse_overlap(together > total_steps, f"budget.steps={total_steps}")

    def _refuse_overlap(self, overlaps: bool, budget: str) -> None:
        if overlaps:
            raise ConfigError(
                f"schedule.warmup={self.warmup.length:g} and schedule.decay={self.decay.length:g} take more than "
                f"{budget} together. Make one of them shorter."
            )

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, end, done, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        left = share_left(done, begin=end - self.decay.of(total_steps), end=end)
        decayed = left if self.shape == "linear" else 1 - math.sqrt(1 - left)
        return min(rise(warm, reached), self.final + (1 - self.final) * decayed)
