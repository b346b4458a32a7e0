"""Cutting runs of words into units of independent lengths, the same law at every place of a run."""

from collections.abc import Sequence

import numpy as np

from ptcli.compiled import compiled
from ptcli.mask.examples import Examples
from ptcli.randomness import draw, uniform


class LengthLaw:
    """A law of unit lengths in words: `probabilities[l - 1]` is the chance of length l.

    The words of each run of maskable positions are cut into consecutive units of independent lengths; a run begins
    somewhere inside a unit, by the stationary law of such a sequence, and ends where it ends. Units never overlap, and
    a unit begins at each word of a run with the same chance, 1 / `mean`.
    """

    def __init__(self, probabilities: Sequence[float] | np.ndarray):
        self.probabilities = np.asarray(probabilities, np.float64) / np.sum(probabilities)
        residuals = self.probabilities[::-1].cumsum()[::-1]
        self._lengths = self.probabilities.cumsum()
        self._residuals = residuals.cumsum() / residuals.sum()
        self._guide = _guide(self._lengths)

    @property
    def mean(self) -> float:
        """The average length, in words."""
        return float(self.probabilities @ np.arange(1, self.probabilities.shape[0] + 1))

    def cut(self, examples: Examples, words: np.ndarray, *, key: np.uint64) -> np.ndarray:
        """Where units begin, bool (N,); `words`: where words do (`word_units`)."""
        laws = self._lengths, self._guide, self._residuals
        return _cut(words, examples.maskable, examples.offsets, examples.keys, key, *laws)


@compiled
def _cut(words, maskable, offsets, keys, key, lengths, guide, residuals):
    """From the cumulated laws of lengths and of what is left of a run's first unit."""
    units = np.zeros(words.shape[0], np.bool_)
    longest = 0
    for e in range(keys.shape[0]):
        longest = max(longest, offsets[e + 1] - offsets[e])
    begins = np.empty(longest + 1, np.int64)
    chances = np.empty(longest + 1, np.float64)
    drawn = np.empty(longest + 1, np.int64)
    for e in range(keys.shape[0]):
        stream = draw(key, keys[e])
        first, last = offsets[e], offsets[e + 1]
        i = first
        while i < last:
            if not maskable[i]:
                i += 1
                continue
            num_words = 0
            while i < last and maskable[i]:
                begins[num_words] = i
                num_words += words[i]
                i += 1
            # Drawn for every word, also for those inside a unit, and in two loops: draws and look-ups that wait for one
            # another would be slower.
            for word in range(num_words):
                chances[word] = uniform(stream, np.uint64(begins[word] - first))
            for word in range(num_words):
                length = guide[np.int64(chances[word] * guide.shape[0])]
                while length < lengths.shape[0] and chances[word] >= lengths[length - 1]:
                    length += 1
                drawn[word] = length
            units[begins[0]] = True
            word = 1
            while word < residuals.shape[0] and chances[0] >= residuals[word - 1]:
                word += 1
            while word < num_words:
                units[begins[word]] = True
                word += drawn[word]
    return units


def _guide(cumulated: np.ndarray) -> np.ndarray:
    """Where to begin looking in a cumulated law: for each 256th, the value that holds its lower end (from 1)."""
    return np.minimum(np.searchsorted(cumulated, np.arange(256) / 256, side="right") + 1, cumulated.shape[0])
