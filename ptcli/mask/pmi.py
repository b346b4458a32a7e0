"""Words that belong together by their statistics are selected together."""

import logging
import time
from collections.abc import Sequence
from typing import Unpack

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.mask.collocations import LONGEST, collocations, contains, extended, hash_set, word_hash
from ptcli.mask.examples import Examples, TokenArrays
from ptcli.mask.ratio import is_number
from ptcli.mask.settings import MaskSettings, checked_whole
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Vocabulary

log = logging.getLogger(__name__)


class PmiMask(MaskStrategy):
    """Units are n-grams of high pointwise mutual information, and words elsewhere (PMI-Masking, arXiv 2010.01825).

    In the text the longest n-gram that was found is taken at each word, from left to right. Differs from the paper:
    n-grams are of whole words, whatever the tokenizer, lie within a sentence where they are counted, and need a least
    score: a small text has fewer frequent n-grams than the paper keeps, so that "of the" would be one of the best.

    Args:
        max_ngram: longest n-gram, in words, from 2 to 8.
        min_count: least number of occurrences in the training text, up to 200.
        max_ngrams: n-grams that are kept, those of the highest scores.
        min_score: least score, in nats, from 0: the log of how many times more frequent an n-gram is than its most
            probable cut into shorter ones makes it; 3 is 20 times.
        ngrams: hashes of the n-grams, as `learn` gives them; the command finds or counts them.
        settings: as in MaskStrategy.
    """

    needs = frozenset({"words"})
    learns = "ngrams"
    learns_by = ("max_ngram", "min_count", "max_ngrams", "min_score")

    def __init__(
        self,
        *,
        max_ngram: int = 5,
        min_count: int = 10,
        max_ngrams: int = 800_000,
        min_score: float = 3.0,
        ngrams: np.ndarray | None = None,
        **settings: Unpack[MaskSettings],
    ):
        super().__init__(**settings)
        self.max_ngram = checked_whole("mask.max_ngram", max_ngram, "the words of the longest", least=2, most=LONGEST)
        self.min_count = checked_whole("mask.min_count", min_count, "occurrences of an n-gram", most=200)
        self.max_ngrams = checked_whole("mask.max_ngrams", max_ngrams, "the n-grams that are kept")
        if not is_number(min_score) or not 0 <= min_score < float("inf"):
            raise ConfigError(f"mask.min_score={min_score}: write a number of nats from 0; 3 is 20 times by chance")
        self.min_score = float(min_score)
        self._table = None if ngrams is None else hash_set(ngrams)

    def learn(
        self, shards: Sequence[TokenArrays], documents: Sequence[Documents], *, vocabulary: Vocabulary
    ) -> np.ndarray:
        """The n-grams of a text: uint64 hashes, ascending."""
        begun = time.perf_counter()
        found = collocations(
            shards,
            documents,
            special=vocabulary.special,
            max_ngram=self.max_ngram,
            min_count=self.min_count,
            max_ngrams=self.max_ngrams,
            min_score=self.min_score,
        )
        log.info(f"{len(found):,} n-grams of words belong together in this text ({time.perf_counter() - begun:.1f} s)")
        if not found.shape[0]:
            raise ConfigError(
                f"mask=pmi: no n-gram of the text occurs mask.min_count={self.min_count} times and has "
                f"mask.min_score={self.min_score:g}. Write a smaller one of these, or mask=whole_word"
            )
        return found

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each n-gram that was found is a unit and an atom, and so is each word elsewhere."""
        assert self._table is not None, "the command counts n-grams before anything is masked"
        units = _longest_matches(
            word_units(examples), examples.tokens, examples.maskable, examples.offsets, self._table, self.max_ngram
        )
        return units, units


@compiled
def _longest_matches(words, tokens, maskable, offsets, table, max_ngram):
    """Where units begin, bool (N,)."""
    units = np.zeros(words.shape[0], np.bool_)
    longest = 0
    for e in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[e + 1] - offsets[e])
    begins = np.empty(longest + 1, np.int64)
    hashes = np.empty(longest + 1, np.uint64)
    for e in range(offsets.shape[0] - 1):
        i, last = offsets[e], offsets[e + 1]
        while i < last:
            if not maskable[i]:
                i += 1
                continue
            num_words = 0
            while i < last and maskable[i]:
                begin = i
                i += 1
                while i < last and maskable[i] and not words[i]:
                    i += 1
                begins[num_words] = begin
                hashes[num_words] = word_hash(tokens, begin, i)
                num_words += 1
            w = 0
            while w < num_words:
                units[begins[w]] = True
                value, size = extended(np.uint64(0), hashes[w]), 1
                for n in range(2, min(max_ngram, num_words - w) + 1):
                    value = extended(value, hashes[w + n - 1])
                    if contains(table, value):
                        size = n
                w += size
    return units
