"""N-grams of words are selected together."""

from typing import Unpack

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.mask.baselines import unigram_probabilities
from ptcli.mask.examples import NOT_SELECTED, PERMUTED, Examples, Masked
from ptcli.mask.lengths import LengthLaw
from ptcli.mask.settings import MaskSettings, checked_flag, checked_whole, one_of
from ptcli.mask.strategy import MaskStrategy, Streams
from ptcli.mask.units import Partition, word_units
from ptcli.randomness import draw

FAVOR = ("short", "long", "uniform")


class NgramMask(MaskStrategy):
    """Units are n-grams of whole words, n words long with a chance in proportion to 1 / n (ALBERT, arXiv 1909.11942).

    Differs from ALBERT's code (mask=albert_exact): n-grams tile the text instead of being rejected where they overlap,
    so that the lengths keep their law at every ratio. The two at which the budget begins and ends are cut between
    words.

    Args:
        max_ngram: longest n-gram, in words. 3 gives lengths of 1, 2 and 3 words with chances 6/11, 3/11 and 2/11.
        favor: `short`, chances as 1 / n; `long`, the same in reverse; `uniform`, every n alike.
        permute: a second budget of as many further tokens, chosen in the same way, is scored too: they are shown in
            each other's places, shuffled within their example (an option of ALBERT's code). `ratio` is then the
            share of each of the two, at most 0.5; `replace` is that of the first.
        settings: as in MaskStrategy.
    """

    needs = frozenset({"words"})

    def __init__(
        self, *, max_ngram: int = 3, favor: str = "short", permute: bool = False, **settings: Unpack[MaskSettings]
    ):
        super().__init__(**settings)
        self.permute = checked_flag("mask.permute", permute)
        if permute and self._ratios.highest > 0.5:
            raise ConfigError(
                f"mask.permute=true selects twice mask.ratio={self._ratios.highest:g}: write a ratio of at most 0.5"
            )
        self._law = LengthLaw(ngram_length_probabilities(max_ngram=max_ngram, favor=favor))

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each n-gram is a unit, each word an atom."""
        words = word_units(examples)
        return self._law.cut(examples, words, key=key), words

    @property
    def mean_words(self) -> float:
        """The mean of the law; selected n-grams are shorter, since the budget cuts two."""
        return self._law.mean

    def ratio_at(self, step: int | None) -> float:
        """The share of maskable tokens that is scored: with `permute`, both budgets."""
        return super().ratio_at(step) * (2 if self.permute else 1)

    @property
    def shown(self) -> tuple[float, float, float]:
        """As in MaskStrategy; what is permuted tells nothing of the label."""
        mask, random, keep = self.replace
        return (mask / 2, (random + 1) / 2, keep / 2) if self.permute else self.replace

    def unrelated(self, counts: np.ndarray) -> np.ndarray:
        """As in MaskStrategy; permuted tokens are as frequent as the text has them."""
        drawn, (_, random, _) = super().unrelated(counts), self.replace
        if not self.permute:
            return drawn
        assert self._vocabulary is not None
        return (random * drawn + unigram_probabilities(counts, vocabulary=self._vocabulary)) / (random + 1)

    def corrupt(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: Streams
    ) -> Masked:
        """Selections are nested: what twice the ratio adds is the second budget."""
        both = self.select(examples, partition, anchors, ratio=2 * ratio, streams=streams) if self.permute else None
        masked = super().corrupt(examples, partition, anchors, ratio=ratio, streams=streams)
        if both is not None:
            both &= masked.kinds == NOT_SELECTED
            _permute(masked.input_ids, masked.labels, both, examples.offsets, examples.keys, streams.order)
            masked.kinds[both] = PERMUTED
        return masked


def ngram_length_probabilities(*, max_ngram: int, favor: str) -> np.ndarray:
    """Probabilities of lengths 1..max_ngram, float64. Raises ConfigError for parameters out of their range."""
    checked_whole("mask.max_ngram", max_ngram, "the words of the longest n-gram; write 3")
    one_of("mask.favor", favor, FAVOR)
    weights = 1 / np.arange(1, max_ngram + 1, dtype=np.float64)
    weights = {"short": weights, "long": weights[::-1], "uniform": np.ones(max_ngram)}[favor]
    return weights / weights.sum()


@compiled
def _permute(input_ids, labels, chosen, offsets, keys, key):
    """Label the chosen positions, and shuffle their ids within each example."""
    longest = 0
    for e in range(keys.shape[0]):
        longest = max(longest, offsets[e + 1] - offsets[e])
    places = np.empty(longest + 1, np.int64)
    for e in range(keys.shape[0]):
        stream = draw(key, keys[e])
        count = 0
        for i in range(offsets[e], offsets[e + 1]):
            places[count] = i
            count += chosen[i]
        for c in range(count):
            labels[places[c]] = input_ids[places[c]]
        for c in range(count - 1, 0, -1):
            other = np.int64(draw(stream, np.uint64(places[c] - offsets[e])) % np.uint64(c + 1))
            a, b = places[c], places[other]
            input_ids[a], input_ids[b] = input_ids[b], input_ids[a]
