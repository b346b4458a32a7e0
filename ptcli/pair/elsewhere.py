"""Second segments from a random place of another document, for every pair that asks about one."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import DataError
from ptcli.pair.chunks import Chunks, can_split, substream
from ptcli.randomness import draw
from ptcli.store.documents import Documents

_DOCUMENT, _SENTENCE = 1, 2


def second_segments(
    chunks: Chunks, documents: Documents, *, chosen: np.ndarray, key: np.uint64, tries: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """First token and length of both segments of each chunk, int64 (C, 2) each.

    The second is [split, end), or, where `chosen` (bool (C,)), sentences from a random one of another document on, up
    to the target length. The other document is drawn among the others; with `tries`, among all, at most so many times
    until it is another one, so that it may be the chunk's own after all.
    """
    return _second_segments(
        chunks.document,
        chunks.first,
        chunks.split,
        chunks.end,
        chunks.target,
        chosen,
        documents.sentence_offsets,
        documents.ranges,
        tries,
        substream(key, _DOCUMENT),
        substream(key, _SENTENCE),
    )


def check_elsewhere(documents: list[Documents], *, pair: str, split_length: int | None) -> None:
    """Raise DataError unless a shard holds two documents, and some document can be split in two."""
    found = sum(len(d.ranges) for d in documents)
    if max((len(d.ranges) for d in documents), default=0) < 2:
        raise DataError(
            f"pair={pair} takes random segments from another document of the same shard, but no shard has "
            f"two (documents found: {found}). Give more documents or another separator of documents, or use "
            "pair=sentence_order or pair=none."
        )
    if not any(can_split(d, split_length=split_length) for d in documents):
        if split_length is None:
            size, lower = "", ""
        else:
            size, lower = f" of fewer than {split_length} tokens", "pair.split_length=2, "
        raise DataError(
            f"pair={pair} finds no true next sentence: each of the {found} documents is one sentence{size}. A blank "
            f"line after every line has this effect. Use another separator of documents, {lower}or pair=none."
        )


@compiled
def _second_segments(document, first, split, end, target, chosen, offsets, ranges, tries, document_key, sentence_key):
    start = np.empty((first.shape[0], 2), np.int64)
    length = np.empty((first.shape[0], 2), np.int64)
    for c in range(first.shape[0]):
        begin, stop = split[c], end[c]
        own = offsets[split[c]] - offsets[first[c]]
        if chosen[c]:
            counter = np.uint64(first[c])
            bits = draw(document_key, counter)
            if tries == 0:
                other = np.int64(bits % np.uint64(ranges.shape[0] - 1))
                if other >= document[c]:
                    other += 1
            else:
                other = document[c]
                for t in range(tries):
                    if other == document[c]:
                        other = np.int64(draw(bits, np.uint64(t)) % np.uint64(ranges.shape[0]))
            size = np.uint64(ranges[other, 1] - ranges[other, 0])
            begin = ranges[other, 0] + np.int64(draw(sentence_key, counter) % size)
            stop = begin + 1
            while stop < ranges[other, 1] and own + offsets[stop] - offsets[begin] < target[c]:
                stop += 1
        start[c, 0], length[c, 0] = offsets[first[c]], own
        start[c, 1], length[c, 1] = offsets[begin], offsets[stop] - offsets[begin]
    return start, length
