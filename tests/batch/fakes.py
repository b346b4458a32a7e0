"""A small world for the batch room: numbered tokens, a packing of two examples a row, a mask that marks every third."""

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.mask.examples import KEPT, MASKED, Masked
from ptcli.packing.index import Index, unpaired
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

PAD, CLS, SEP, MASK = 1, 2, 3, 4


def vocabulary(size: int = 5000) -> Vocabulary:
    special = np.zeros(size, bool)
    special[[PAD, CLS, SEP, MASK]] = True
    return Vocabulary(size, PAD, MASK, CLS, SEP, None, special, Layout((CLS,), (SEP,), (SEP,)))


class Shard:
    units = None

    def __init__(self, num_tokens: int) -> None:
        self.tokens = np.arange(10, 10 + num_tokens).astype(np.uint16)
        starts = np.arange(num_tokens) % 2 == 0
        self.word_starts = np.packbits(starts, bitorder="little")


def documents(num_tokens: int, sentence: int = 5, shard: int = 0) -> Documents:
    offsets = np.arange(0, num_tokens + 1, sentence)
    return Documents(shard, offsets, np.stack([np.arange(len(offsets) - 1), np.arange(1, len(offsets))], 1))


class TwoARow:
    """Each document one example of one piece; two examples a row, the last row may hold one."""

    isolated, max_segments = True, 1

    def index(self, documents, *, layout, pair, max_length, seed, epoch):
        start = documents.sentence_offsets[documents.ranges[:, 0]]
        length = (documents.sentence_offsets[documents.ranges[:, 1]] - start).astype(np.int32)
        n = len(start)
        rows = np.minimum(np.arange(0, n + 2, 2), n)
        rows = np.unique(np.append(rows, n))
        labels = unpaired(n)
        labels[::2] = 1
        return Index(documents.shard, start, length, np.zeros(n, np.uint8), np.arange(n + 1), rows, labels)


class EveryThird:
    """Selects maskable positions whose original id is divisible by three: easy to check by hand."""

    copies, replace = None, [0.5, 0.0, 0.5]

    def data_epoch(self, epoch):
        return epoch

    def ratio_at(self, step):
        return 1 / 3

    def __call__(self, examples, *, seed, epoch, step=0):
        chosen = examples.maskable & (examples.tokens % 3 == 0)
        even = chosen & (examples.tokens % 2 == 0)
        return Masked(
            np.where(even, MASK, examples.tokens).astype(np.int32),
            np.where(chosen, examples.tokens, IGNORE_INDEX).astype(np.int32),
            np.where(chosen, np.where(even, MASKED, KEPT), 0).astype(np.uint8),
            np.ones(len(chosen), bool),
        )
