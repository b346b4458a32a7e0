"""Spans of words are selected together."""

from collections.abc import Sequence

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units
from ptcli.randomness import draw, uniform
from ptcli.tokenizer.vocabulary import Vocabulary


class SpanMask(MaskStrategy):
    """Units are spans of whole words with SpanBERT's lengths (arXiv 1907.10529).

    The words of each run of maskable positions are cut into consecutive spans of independent lengths; a run begins
    somewhere inside a span, by the stationary law of such a sequence, and ends where it ends. Spans never overlap, so
    the ratio is met at every value. The two spans at which the budget begins and ends are cut between words.

    Args:
        p: parameter of the geometric law of lengths, in (0, 1]; smaller is longer.
        max_words: longest span, in words. With p=0.2 and max_words=10 the mean is 3.797 words.
        ratio, budget, copies, replace, replace_level, at_least_one, vocabulary: as in MaskStrategy.
    """

    needs_words = True

    def __init__(
        self,
        *,
        p: float = 0.2,
        max_words: int = 10,
        ratio: float = 0.15,
        budget: str = "stochastic_round",
        copies: int | None = None,
        replace: Sequence[float] = (0.8, 0.1, 0.1),
        replace_level: str = "unit",
        at_least_one: bool = True,
        vocabulary: Vocabulary | None = None,
    ):
        super().__init__(
            ratio=ratio,
            budget=budget,
            copies=copies,
            replace=replace,
            replace_level=replace_level,
            at_least_one=at_least_one,
            vocabulary=vocabulary,
        )
        if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p <= 1:
            raise ConfigError(
                f"mask.p={p}: the parameter of the geometric law of span lengths lies in (0, 1]; write 0.2"
            )
        if isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1:
            raise ConfigError(
                f"mask.max_words={max_words}: the longest span is a whole number of words from 1; write 10"
            )
        self.p, self.max_words = float(p), max_words
        lengths = span_length_probabilities(p=self.p, max_words=max_words)
        residuals = lengths[::-1].cumsum()[::-1]
        self._lengths = lengths.cumsum()
        self._residuals = residuals.cumsum() / residuals.sum()

    def partition(self, examples: Examples, *, key: np.uint64) -> tuple[np.ndarray, np.ndarray]:
        """Each span is a unit, each word an atom."""
        words = word_units(examples)
        spans = _span_units(
            words, examples.maskable, examples.offsets, examples.keys, key, self._lengths, self._residuals
        )
        return spans, words


def span_length_probabilities(*, p: float, max_words: int) -> np.ndarray:
    """Probabilities of span lengths 1..max_words, float64: p (1 - p)^(l - 1), renormalised, not clipped at the top."""
    probabilities = p * (1 - p) ** np.arange(max_words, dtype=np.float64)
    return probabilities / probabilities.sum()


@compiled
def _span_units(words, maskable, offsets, keys, key, lengths, residuals):
    """Where spans begin, bool (N,), from the cumulated laws of lengths and of what is left of a run's first span."""
    units = np.zeros(words.shape[0], np.bool_)
    longest = 0
    for e in range(keys.shape[0]):
        longest = max(longest, offsets[e + 1] - offsets[e])
    begins = np.empty(longest + 1, np.int64)
    guide = _guide(lengths)
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
            units[begins[0]] = True
            chance = uniform(stream, np.uint64(begins[0] - first))
            word = 1
            while word < residuals.shape[0] and chance >= residuals[word - 1]:
                word += 1
            while word < num_words:
                units[begins[word]] = True
                chance = uniform(stream, np.uint64(begins[word] - first))
                length = guide[np.int64(chance * guide.shape[0])]
                while length < lengths.shape[0] and chance >= lengths[length - 1]:
                    length += 1
                word += length
    return units


@compiled
def _guide(cumulated):
    """Where to begin looking in a cumulated law: for each 256th, the value that holds its lower end (from 1)."""
    guide = np.empty(256, np.int64)
    value = 1
    for g in range(256):
        while value < cumulated.shape[0] and g / 256 >= cumulated[value - 1]:
            value += 1
        guide[g] = value
    return guide
