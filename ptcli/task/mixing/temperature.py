from collections.abc import Sequence

import numpy as np

from ptcli.errors import ConfigError


class Temperature:
    """A task of n steps has a share of the epoch's that goes as n^`exponent`.

    1 is proportional mixing (MT-DNN, arXiv:1901.11504), 0 treats all alike; between them large tasks are seen less
    often, small ones more often than they are large (multilingual BERT: 0.7; XLM-R, arXiv:1911.02116: 0.3; T5,
    arXiv:1910.10683, calls 1 / exponent the temperature). Steps are given out and not drawn, so that an epoch has
    exactly these shares, to a step.
    """

    def __init__(self, *, exponent: float = 0.5):
        if not 0 <= exponent <= 1:
            raise ConfigError(f"task.mixing.exponent={exponent} must lie between 0 (all alike) and 1 (by size).")
        self.exponent = exponent

    def __call__(self, sizes: Sequence[int]) -> list[int]:
        """Of sum(sizes) steps those of each task, whose rows make `sizes` of them, 1 or more each."""
        weights = np.asarray(sizes, np.float64) ** self.exponent
        ideal = weights / weights.sum() * sum(sizes)
        counts = np.floor(ideal + 1e-9).astype(np.int64)
        left = sum(sizes) - int(counts.sum())
        counts[np.argsort(-(ideal - counts), kind="stable")[:left]] += 1
        return [int(count) for count in counts]
