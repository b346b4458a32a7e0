from ptcli.schedule.warmup import Warmup, rise


class Constant:
    """Linear warm-up, then the full learning rate to the end.

    Args:
        warmup: share of the budget in [0, 1), or a number of updates from 1 on.
    """

    decays = False

    def __init__(self, *, warmup: float = 0.0):
        self.warmup = Warmup(warmup)

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the warm-up does not fit the budget."""
        self.warmup.check(total_steps=total_steps)

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, _, _, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        return rise(warm, reached)
