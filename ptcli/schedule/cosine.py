import math

from ptcli.schedule.decay import Decaying


class Cosine(Decaying):
    """Warm-up, then half a cosine down, without restarts ("SGDR", arXiv 1608.03983; GPT-1 with decay_from=start)."""

    def decay(self, left: float) -> float:
        return 0.5 * (1 - math.cos(math.pi * left))
