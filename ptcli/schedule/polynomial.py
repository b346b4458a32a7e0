from ptcli.errors import ConfigError
from ptcli.schedule.decay import Decaying


class Polynomial(Decaying):
    """Warm-up, then a power of the share that is left (fairseq's polynomial decay; BERT and SpanBERT with power 1).

    Args:
        power: above 0; 1 is the line, 2 falls fast at first, 0.5 late.
        warmup: share of the budget in [0, 1), or a number of updates from 1 on.
        final: the factor that the decay runs towards, in [0, 1].
        decay_from: warmup, start or product: see Decaying.
    """

    def __init__(self, *, power: float = 2.0, warmup: float = 0.06, final: float = 0.0, decay_from: str = "warmup"):
        if not 0 < power < float("inf"):
            raise ConfigError(f"schedule.power={power}: above 0; 1 is a straight line.")
        super().__init__(warmup=warmup, final=final, decay_from=decay_from)
        self.power = power

    def decay(self, left: float) -> float:
        return left**self.power
