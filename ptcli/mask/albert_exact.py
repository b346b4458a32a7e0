"""N-grams as ALBERT's code selects and replaces them."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.mask.exact import ExactMask
from ptcli.mask.examples import Examples
from ptcli.mask.ngram import ngram_length_probabilities
from ptcli.mask.random_ids import RandomIds, uniform_ids
from ptcli.mask.strategy import Streams
from ptcli.mask.units import Partition, word_units
from ptcli.randomness import draw, uniform
from ptcli.tokenizer.vocabulary import Vocabulary


class AlbertExactMask(ExactMask):
    """google-research/albert (arXiv 1909.11942): n-grams of words from shuffled starts, up to round(ratio * length).

    One that the budget cannot hold is shortened, or given up, and so is one that overlaps with another: lengths are
    shorter than their law, more so at higher ratios. Each token is masked, replaced or kept by itself; random tokens
    are drawn from the whole vocabulary. ALBERT's data held forty copies.
    """

    needs = frozenset({"words"})

    def __init__(
        self,
        *,
        max_ngram: int = 3,
        favor: str = "short",
        ratio: float = 0.15,
        max_predictions: int | None = None,
        copies: int | None = 40,
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        super().__init__(
            ratio=ratio, max_predictions=max_predictions, copies=copies, vocabulary=vocabulary, counts=counts
        )
        self._law = ngram_length_probabilities(max_ngram=max_ngram, favor=favor).cumsum()

    def random_ids(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> RandomIds:
        return uniform_ids(np.arange(vocabulary.size))

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each word is a unit: n-grams are drawn when they are selected."""
        words = word_units(examples)
        return words, words

    def select(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: Streams
    ) -> np.ndarray:
        """N-grams that do not overlap, up to the budget."""
        budgets = self.rounded_budgets(examples, ratio)
        return _ngrams_from_shuffled_starts(
            partition.units,
            examples.maskable,
            examples.offsets,
            examples.keys,
            streams.order,
            partition.ranks,
            budgets,
            self._law,
        )


@compiled
def _ngrams_from_shuffled_starts(words, maskable, offsets, keys, key, ranks, budgets, law):
    """Selected positions, bool (N,); `law`: cumulated chances of lengths."""
    selected = np.zeros(words.shape[0], np.bool_)
    for e in range(keys.shape[0]):
        first, last, budget = offsets[e], offsets[e + 1], budgets[e]
        stream, count = draw(key, keys[e]), 0
        starts = first + np.flatnonzero(words[first:last])
        for s in np.argsort(ranks[starts]):
            if count >= budget:
                break
            # The ends of the n-grams that begin here: they stay within the run.
            ends = np.empty(law.shape[0], np.int64)
            fitting, end = 0, starts[s]
            while fitting < law.shape[0] and end < last and maskable[end]:
                end += 1
                while end < last and maskable[end] and not words[end]:
                    end += 1
                ends[fitting] = end
                fitting += 1
            chance = uniform(stream, np.uint64(starts[s] - first)) * law[fitting - 1]
            n = 0
            while n < fitting - 1 and chance >= law[n]:
                n += 1
            while n > 0 and count + ends[n] - starts[s] > budget:
                n -= 1
            if count + ends[n] - starts[s] > budget or selected[starts[s] : ends[n]].any():
                continue
            selected[starts[s] : ends[n]] = True
            count += ends[n] - starts[s]
    return selected
