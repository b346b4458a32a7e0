"""Several examples in each row, chosen by length so that next to nothing is padding."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.packing.fill_gaps import fill_gaps
from ptcli.packing.index import Index, unpaired
from ptcli.packing.segment_pair import checked_share, index_of
from ptcli.packing.segments import Segments, make_segments
from ptcli.pair.chunks import Pair
from ptcli.randomness import draw, key_of
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class BestFit:
    """Best-fit-decreasing packing: each example goes into the fullest row that can take it (Krell et al.,
    arXiv:2107.02027). Examples of a row do not see each other, and each counts its own positions.

    Examples are those of segment_pair where the pair has two segments, else pieces of documents. Which examples meet in
    a row, and where documents are cut, changes with the epoch. Rows come out in order of length: visit them shuffled.
    Where documents are a little longer than half a row no two fit together: `cut_to_fill` cuts some at the end of a
    sentence to fill the gaps ("cut_to_fill", see fill_gaps). Pairs are never cut.
    """

    isolated = True
    max_segments = 2
    fills_rows = True

    def __init__(
        self, *, short_sequence_probability: float = 0.0, sentence_window: float = 0.1, cut_to_fill: bool = True
    ):
        self.short_sequence_probability = checked_share(
            short_sequence_probability, "packing.short_sequence_probability"
        )
        self.sentence_window = checked_share(sentence_window, "packing.sentence_window")
        self.cut_to_fill = cut_to_fill

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch. ConfigError: max_length is too small for one token of text."""
        segments = make_segments(
            documents,
            layout=layout,
            pair=pair,
            max_length=max_length,
            short_sequence_probability=self.short_sequence_probability,
            sentence_window=self.sentence_window,
            move_cuts=True,
            seed=seed,
            epoch=epoch,
        )
        special = layout.num_special(pair.segments)
        lengths = segments.length.sum(axis=1) + special
        key = key_of(seed, "packing.row", epoch, documents.shard)
        order, row_examples = best_fit(lengths, capacity=max_length, key=key)
        segments = Segments(segments.start[order], segments.length[order], segments.labels[order], segments.counts)
        if self.cut_to_fill and pair.segments == 1:
            start, length, row_examples, cuts = fill_gaps(
                segments.start[:, 0],
                segments.length[:, 0],
                row_examples,
                documents.sentence_offsets,
                special=special,
                capacity=max_length,
                key=key_of(seed, "packing.cut", epoch, documents.shard),
            )
            counts = segments.counts | {"cut_to_fill": cuts}
            segments = Segments(start[:, None], length[:, None], unpaired(len(start)), counts)
        return index_of(segments, shard=documents.shard, layout=layout, row_examples=row_examples)


def best_fit(lengths: np.ndarray, *, capacity: int, key: np.uint64) -> tuple[np.ndarray, np.ndarray]:
    """Put lengths (int64 (E,), each in [1, capacity]) into rows of `capacity`, in O(E + capacity^2).

    Returns the examples by row (int64 (E,)) and where each row begins among them (int64 (R + 1,)). `key` draws which of
    the examples of one length comes first.
    """
    order = _longest_first(lengths, capacity, key)
    row_of, num_rows = _fill_rows(lengths, order, capacity)
    # A counting sort by row.
    row_examples = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=num_rows))])
    return _by_row(order, row_of, row_examples[:-1].copy()), row_examples


@compiled
def _longest_first(lengths, capacity, key):
    begin = np.zeros(capacity + 2, np.int64)  # where each length's examples begin, longest first
    for e in range(lengths.shape[0]):
        begin[lengths[e]] += 1
    total = 0
    for length in range(capacity, -1, -1):
        here = begin[length]
        begin[length] = total
        total += here
    order = np.empty(lengths.shape[0], np.int64)
    place = begin.copy()
    for e in range(lengths.shape[0]):
        # Inside-out Fisher-Yates among the examples of the same length.
        low, high = begin[lengths[e]], place[lengths[e]]
        other = low + np.int64(draw(key, np.uint64(e)) % np.uint64(high - low + 1))
        order[high] = order[other]
        order[other] = e
        place[lengths[e]] += 1
    return order


@compiled
def _fill_rows(lengths, order, capacity):
    """Which row each example goes into. Open rows are kept in stacks by the space they have left."""
    count = order.shape[0]
    row_of = np.empty(count, np.int64)
    top = np.full(capacity + 1, -1, np.int64)  # the newest row with this much space
    below = np.empty(count, np.int64)  # the row under it in its stack
    num_rows, i = 0, 0
    while i < count:
        length = lengths[order[i]]
        space = length
        while i < count and lengths[order[i]] == length:
            while space <= capacity and top[space] < 0:
                space += 1
            if space > capacity:
                row, left = num_rows, capacity
                num_rows += 1
            else:
                row, left = top[space], space
                top[space] = below[row]
            # The row stays the fullest that can take this length, for as long as it can.
            while left >= length and i < count and lengths[order[i]] == length:
                row_of[order[i]] = row
                left -= length
                i += 1
            below[row] = top[left]
            top[left] = row
    return row_of, num_rows


@compiled
def _by_row(order, row_of, place):
    out = np.empty(order.shape[0], np.int64)
    for e in order:
        out[place[row_of[e]]] = e
        place[row_of[e]] += 1
    return out
