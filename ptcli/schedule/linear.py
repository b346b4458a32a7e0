from ptcli.errors import ConfigError
from ptcli.schedule.warmup import Warmup, rise


class Linear:
    """Linear warm-up, then linear decay that begins where the warm-up ends, as fairseq and XLNet decay.

    (BERT decays from step 0 on, so that its rate jumps at the warm-up's end.) With a budget in updates, update t
    (from 0) of T with W warming ones has the factor min((t + 1) / W, (T - t) / (T - W)), at most 1.

    Args:
        warmup: share of the budget in [0, 1), or a number of updates from 1 on.
        final: the factor that the decay runs towards, in [0, 1].
    """

    def __init__(self, *, warmup: float = 0.06, final: float = 0.0):
        if not 0 <= final <= 1:
            raise ConfigError(f"schedule.final={final}: a factor of the learning rate in [0, 1].")
        self.warmup = Warmup(warmup)
        self.final = final

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the warm-up does not fit the budget."""
        self.warmup.check(total_steps=total_steps)

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, end, done, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        decay = (end - done) / (end - warm) if end > warm else 1.0
        decay = min(1.0, max(0.0, decay))
        return min(rise(warm, reached), self.final + (1 - self.final) * decay)
