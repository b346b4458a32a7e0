import math

from ptcli.errors import ConfigError
from ptcli.schedule.decay import check_factor, share_left
from ptcli.schedule.warmup import Warmup, rise

SHAPES = ("cosine", "linear")


class OneCycle:
    """Up from a small rate, then down to a smaller one ("Super-Convergence", arXiv 1708.07120).

    Each way is half a cosine, or a line, as in Cramming (arXiv 2212.14034). The paper also lowers the momentum while
    the rate is high; here it stays. With W rising updates of T, update t (from 0) is at (t + 1) / W of the rise, or has
    (T - t) / (T - W) of the fall ahead.

    Args:
        warmup: how long the rise takes: share of the budget in [0, 1), or a number of updates from 1 on.
        start: the factor that it rises from, in [0, 1].
        final: the factor that it falls towards, in [0, 1].
        shape: cosine or linear.
    """

    decays = True

    def __init__(self, *, warmup: float = 0.3, start: float = 0.04, final: float = 4e-6, shape: str = "cosine"):
        check_factor("start", start)
        check_factor("final", final)
        if shape not in SHAPES:
            raise ConfigError(f"schedule.shape={shape}: one of {', '.join(SHAPES)}.")
        self.warmup = Warmup(warmup)
        self.start, self.final, self.shape = start, final, shape

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the rise does not fit the budget."""
        self.warmup.check(total_steps=total_steps)

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, end, done, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        if done < warm:
            return self.start + (1 - self.start) * self._curve(rise(warm, reached))
        return self.final + (1 - self.final) * self._curve(share_left(done, begin=warm, end=end))

    def _curve(self, share: float) -> float:
        """From 0 to 1."""
        return share if self.shape == "linear" else 0.5 * (1 - math.cos(math.pi * share))
