from dataclasses import replace
from typing import Any

from ptcli.trainer.meter import WEIGHTS
from ptcli.trainer.ranks import Ranks


class Agreement:
    """What the ranks agree on before each step. `stop`: the number of a signal that any of them was sent.

    `seconds`: rank 0's clock, so that a budget of minutes ends after the same step everywhere. `most`: micro-batches
    of the rank that has most.
    """

    def __init__(self, ranks: Ranks):
        self._ranks = ranks
        self.stop: int | None = None
        self.seconds = 0.0
        self.most = 0

    def on(self, data: Any, *, seconds: float, stop: int | None) -> Any:
        """`data` with the counts and measurements of all ranks: one collective, before the first backward pass."""
        if self._ranks.size == 1:
            self.stop, self.seconds, self.most = stop, seconds, len(data.micro_batches)
            return data
        counts, measured = sorted(data.counts), sorted(data.measured)
        own = [float(stop or 0), seconds, float(len(data.micro_batches))]
        own += [float(data.counts[name]) for name in counts] + [float(data.measured[name]) for name in measured]
        rows = self._ranks.gather(own)
        self.stop = next((int(row[0]) for row in rows if row[0]), None)
        self.seconds = rows[0][1]
        self.most = int(max(row[2] for row in rows))
        by_rank = [dict(zip(counts, row[3:], strict=False)) for row in rows]
        totals = {name: _whole(sum(row[name] for row in by_rank)) for name in counts}
        means = {}
        for place, name in enumerate(measured, start=3 + len(counts)):
            weights = [1.0 if name == "epoch" else row.get(WEIGHTS.get(name, "tokens"), 0.0) for row in by_rank]
            total = sum(weights)
            first = rows[0][place]  # exact where all values are equal
            others = sum(w * (row[place] - first) for w, row in zip(weights, rows, strict=True))
            means[name] = first + (others / total if total else 0.0)
        return replace(data, counts=totals, measured=means)


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value
