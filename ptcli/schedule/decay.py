"""A warm-up and a decay behind it, and the three ways in which papers join the two."""

from abc import ABC, abstractmethod

from ptcli.errors import ConfigError
from ptcli.schedule.warmup import Warmup, rise

DECAY_FROM = ("warmup", "start", "product")


class Decaying(ABC):
    """Linear warm-up, then a decay whose curve a subclass gives.

    With a budget in updates, update t (from 0) of T with W warming ones has the warm-up's factor r, which is
    min(1, (t + 1) / W), and a factor d of the decay, a function of the share that is left:

    - decay_from=warmup (fairseq, XLNet): the decay begins where the warm-up ends: d((T - t) / (T - W)) from W on.
    - decay_from=start (BERT, ALBERT; GPT-1's cosine): r before W, then d((T - t) / T), as if it had decayed from the
      first update on: the rate jumps down when the warm-up ends.
    - decay_from=product (ELECTRA; GPT-1's fine-tuning): r times d((T - t) / T) all the way; it never reaches the peak.

    Args:
        warmup: share of the budget in [0, 1), or a number of updates from 1 on.
        final: the factor that the decay runs towards, in [0, 1].
        decay_from: warmup, start or product.
    """

    decays = True

    def __init__(self, *, warmup: float = 0.06, final: float = 0.0, decay_from: str = "warmup"):
        check_factor("final", final)
        if decay_from not in DECAY_FROM:
            raise ConfigError(f"schedule.decay_from={decay_from}: one of {', '.join(DECAY_FROM)}.")
        self.warmup = Warmup(warmup)
        self.final, self.decay_from = final, decay_from

    @abstractmethod
    def decay(self, left: float) -> float:
        """The factor in [0, 1] when `left` of the decay is still ahead, from 1 to 0."""

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where the warm-up does not fit the budget."""
        self.warmup.check(total_steps=total_steps)

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The learning rate's factor for update `step` (from 0); `before`, `after`: share of the budget behind then."""
        warm, end, done, reached = self.warmup.scale(step=step, total_steps=total_steps, before=before, after=after)
        begin = warm if self.decay_from == "warmup" else 0.0
        decayed = self.final + (1 - self.final) * self.decay(share_left(done, begin=begin, end=end))
        risen = rise(warm, reached)
        if self.decay_from == "start":
            return risen if done < warm else decayed
        return risen * decayed


def share_left(done: float, *, begin: float, end: float) -> float:
    """How much of the stretch from `begin` to `end` is ahead when `done` is behind, in [0, 1]."""
    return min(1.0, max(0.0, (end - done) / (end - begin))) if end > begin else 1.0


def check_factor(key: str, value: float) -> None:
    """Raise ConfigError for what is no factor of the learning rate."""
    if not 0 <= value <= 1:
        raise ConfigError(f"schedule.{key}={value}: a factor of the learning rate in [0, 1].")
