"""Spans as SpanBERT's code selects and replaces them."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.mask.exact import ExactMask
from ptcli.mask.examples import Examples, Masked
from ptcli.mask.random_ids import RandomIds, corpus_ids, uniform_ids
from ptcli.mask.span import span_length_probabilities
from ptcli.mask.strategy import Streams
from ptcli.mask.units import Partition, word_units
from ptcli.randomness import draw
from ptcli.tokenizer.vocabulary import Vocabulary


class SpanbertExactMask(ExactMask):
    """facebookresearch/SpanBERT (arXiv 1907.10529): spans from random tokens until ceil(ratio * tokens) are selected.

    A span begins with the word of its token, so long words are favoured; it may run over tokens that are selected
    already; the last is cut where the budget ends, inside a word too. Spans that overlap or touch are one run, of
    which one draw decides what is shown. Random tokens are as frequent as the training text has them.
    """

    needs = frozenset({"words"})

    def __init__(
        self,
        *,
        p: float = 0.2,
        max_words: int = 10,
        ratio: float = 0.15,
        copies: int | None = None,
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        self._law = span_length_probabilities(p=p, max_words=max_words).cumsum()
        super().__init__(ratio=ratio, copies=copies, replace_level="unit", vocabulary=vocabulary, counts=counts)

    def random_ids(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> RandomIds:
        """As frequent as in the text; all ordinary ids alike where there are no counts."""
        return corpus_ids(counts, vocabulary) if counts is not None else uniform_ids(vocabulary.ordinary_ids)

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Words: spans are drawn when they are selected."""
        words = word_units(examples)
        return words, words

    def corrupt(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: Streams
    ) -> Masked:
        """Draw spans, then take each run of selected tokens as a unit."""
        selected = _spans(
            partition.units, examples.maskable, examples.offsets, examples.keys, streams.order, ratio, self._law
        )
        before = np.zeros_like(selected)
        before[1:] = selected[:-1] & examples.maskable[1:]
        before[examples.offsets[:-1][np.diff(examples.offsets) > 0]] = False
        units = np.where(selected, ~before, (partition.units | before) & examples.maskable)
        return self.show(examples, selected, units, streams=streams)


@compiled
def _spans(words, maskable, offsets, keys, key, ratio, law):
    """Selected positions, bool (N,); `law`: cumulated chances of lengths in words."""
    selected = np.zeros(words.shape[0], np.bool_)
    for e in range(keys.shape[0]):
        first, last = offsets[e], offsets[e + 1]
        body = first + np.flatnonzero(maskable[first:last])
        budget = np.int64(np.ceil(ratio * body.shape[0]))
        stream, count, drawn = draw(key, keys[e]), 0, np.uint64(0)
        while count < budget:
            bits = draw(stream, drawn)
            drawn += np.uint64(1)
            anchor = body[np.int64((bits >> np.uint64(32)) * np.uint64(body.shape[0]) >> np.uint64(32))]
            if selected[anchor]:
                continue
            chance = np.float64(bits & np.uint64(0xFFFFFFFF)) / 4294967296.0
            num_words = np.searchsorted(law, chance, side="right") + 1
            i = anchor
            while not words[i]:
                i -= 1
            begin = i
            while i < last and maskable[i] and count < budget:
                num_words -= words[i]
                if num_words < 0 and i > begin:
                    break
                count += not selected[i]
                selected[i] = True
                i += 1
    return selected
