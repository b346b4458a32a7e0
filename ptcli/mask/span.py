"""Spans of words are selected together."""

from typing import Unpack

import numpy as np

from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.lengths import LengthLaw
from ptcli.mask.settings import MaskSettings, checked_flag, checked_whole
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units


class SpanMask(MaskStrategy):
    """Units are spans of whole words with SpanBERT's lengths (arXiv 1907.10529).

    Differs from SpanBERT's code (mask=spanbert_exact): spans do not overlap and no word is cut, so that the ratio is
    met at every value and first and last words are covered like the others. The two spans at which the budget begins
    and ends are cut between words, so that selected spans are shorter than the law: at 15 % of 128 tokens 3.0 words on
    average, of 512 tokens 3.3 (docs/masking.md). With `complete_last` they follow the law.

    Args:
        p: parameter of the geometric law of lengths, in (0, 1]; smaller is longer.
        max_words: longest span, in words. With p=0.2 and max_words=10 the mean is 3.797 words.
        complete_last: no span is cut by the budget; the number of tokens leaves it by less than a span instead, the
            share being right on average. An example may then have none, so that `at_least_one` must be false.
        settings: as in MaskStrategy.
    """

    needs = frozenset({"words"})

    def __init__(
        self, *, p: float = 0.2, max_words: int = 10, complete_last: bool = False, **settings: Unpack[MaskSettings]
    ):
        super().__init__(**settings)
        self.complete_last = checked_flag("mask.complete_last", complete_last)
        if complete_last and self.at_least_one:
            raise ConfigError(
                "mask.complete_last=true cuts no span, and a span may be longer than all that mask.ratio gives an "
                "example: with mask.at_least_one=true the ratio would not be met. Write mask.at_least_one=false as "
                "well, or leave mask.complete_last out."
            )
        self._law = LengthLaw(span_length_probabilities(p=p, max_words=max_words))

    @property
    def mean_words(self) -> float:
        """The mean of the law; selected spans are shorter where the budget cuts two."""
        return self._law.mean

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each span is a unit, each word an atom, or, with `complete_last`, each span."""
        words = word_units(examples)
        spans = self._law.cut(examples, words, key=key)
        return spans, spans if self.complete_last else words


def span_length_probabilities(*, p: float, max_words: int) -> np.ndarray:
    """Probabilities of span lengths 1..max_words, float64: p (1 - p)^(l - 1), renormalised, not clipped at the top.

    Raises ConfigError for parameters out of their range.
    """
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p <= 1:
        raise ConfigError(f"mask.p={p}: the parameter of the geometric law of span lengths lies in (0, 1]; write 0.2")
    checked_whole("mask.max_words", max_words, "the words of the longest span; write 10")
    probabilities = p * (1 - p) ** np.arange(max_words, dtype=np.float64)
    return probabilities / probabilities.sum()
