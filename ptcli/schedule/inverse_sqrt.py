import math

from ptcli.errors import ConfigError
from ptcli.schedule.warmup import Warmup, rise


class InverseSqrt:
    """Linear warm-up, then one over the square root of the update's number ("Noam": arXiv 1706.03762).

    Update t (from 0) has the factor min((t + 1) / W, sqrt(W / (t + 1))): 1 at the warm-up's end, so that
    optimizer.learning_rate is the peak, which the paper writes as 1 / sqrt(hidden_size * W). It never reaches zero. By
    shares of a budget, the same curve is followed with shares in the place of numbers.

    Args:
        warmup: share of the budget in (0, 1), or a number of updates from 1 on; the decay is measured in it.
        flat: keep the full rate instead of rising to it: sqrt(W / max(t + 1, W)) (T5, arXiv 1910.10683).
    """

    decays = True

    def __init__(self, *, warmup: float = 0.06, flat: bool = False):
        self.warmup = Warmup(warmup)
        self.flat = flat
        if warmup == 0:
            raise ConfigError(
                "schedule.warmup=0: schedule=inverse_sqrt measures its decay in warm-ups. Give a share of the budget "
                "above 0, or a number of updates; schedule.flat=true does without the rise."
            )

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the warm-up does not fit the budget."""
        self.warmup.check(total_steps=total_steps)

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, _, _, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        if total_steps is not None:
            warm = max(warm, 1.0)  # a share of a very short run
        if reached > warm:
            return math.sqrt(warm / reached)
        return 1.0 if self.flat else rise(warm, reached)
