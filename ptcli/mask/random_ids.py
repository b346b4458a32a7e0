"""The ids that random replacements are drawn from, and how likely each is."""

from typing import NamedTuple

import numpy as np

from ptcli.tokenizer.vocabulary import Vocabulary

_WHOLE = 1 << 32


class RandomIds(NamedTuple):
    """A law over ids as an alias table (Walker 1977; Vose 1991): one draw of 64 bits gives an id in constant time.

    The high half of the bits chooses an entry k; the low half, below `thresholds[k]`, its own id, else the other one.
    """

    ids: np.ndarray  # int32 (K,)
    others: np.ndarray  # int32 (K,)
    thresholds: np.ndarray  # uint64 (K,), from 0 to 2^32

    def probabilities(self, size: int) -> np.ndarray:
        """The chance of each id, float64 (size,)."""
        own = self.thresholds.astype(np.float64) / _WHOLE
        chances = np.bincount(self.ids, own, minlength=size) + np.bincount(self.others, 1 - own, minlength=size)
        return chances / self.ids.shape[0]


def uniform_ids(ids: np.ndarray) -> RandomIds:
    """Each of `ids` alike."""
    ids = np.array(ids, np.int32)
    return RandomIds(ids, ids.copy(), np.full(ids.shape[0], _WHOLE, np.uint64))


def corpus_ids(counts: np.ndarray, vocabulary: Vocabulary) -> RandomIds:
    """The ordinary ids as often as the training text has them: `counts` int64 (V,), one added to each."""
    ids = vocabulary.ordinary_ids
    weights = np.asarray(counts, np.float64)[ids] + 1.0
    shares = weights * (ids.shape[0] / weights.sum())  # 1 on average: what an entry holds
    others, thresholds = np.arange(ids.shape[0]), np.ones(ids.shape[0])
    small, large = list(np.flatnonzero(shares < 1)), list(np.flatnonzero(shares >= 1))
    while small and large:
        k, donor = small.pop(), large[-1]
        thresholds[k], others[k] = shares[k], donor
        shares[donor] -= 1 - shares[k]
        if shares[donor] < 1:
            small.append(large.pop())
    return RandomIds(ids, ids[others], np.rint(thresholds * _WHOLE).astype(np.uint64))
