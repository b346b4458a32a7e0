"""Sentence distance: are two segments neighbours, apart in one document, or from two documents?"""

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import DataError
from ptcli.pair.chunks import Chunks, Pairs, checked_split_length, substream
from ptcli.pair.elsewhere import check_elsewhere, second_segments
from ptcli.randomness import draw, draws
from ptcli.store.documents import Documents

_KIND, _APART = 0, 3
_ADJACENT, _SAME_DOCUMENT, _OTHER_DOCUMENT = range(3)
_FEWEST = 4  # sentences of a document in which every first segment has a place that does not touch it


class SentenceDistance:
    """ERNIE 2.0's sentence distance task (Sun et al., arXiv:1907.12412): label 0 is adjacent (the second segment
    follows the first), 1 the same document but not adjacent, before or after, 2 another document.

    A third each in documents of four sentences or more. In a shorter one two segments that do not touch may not exist:
    labels 0 and 2 halve there. Documents of one sentence are those of pair=next_sentence. In a shard with one document
    only, where there is no other, labels 0 and 1 halve.
    """

    num_labels = 3
    needs_sentences = _FEWEST
    segments = 2
    label_names = ("adjacent", "same_document", "other_document")

    def __init__(self, *, split_length: int = 16):
        self.split_length = checked_split_length(split_length)

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError where no pair of some label can be made."""
        check_elsewhere(documents, pair="sentence_distance", split_length=self.split_length)
        if not any(np.any(_num_filled(d) >= _FEWEST) for d in documents):
            raise DataError(
                f"pair=sentence_distance finds no two segments that are apart: no document has {_FEWEST} sentences. "
                "Use longer documents or another separator of documents, or pair=next_sentence or pair=none."
            )

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """Two thirds of the sentences, drawn; half of those of short documents."""
        return _kinds(documents, key) != _ADJACENT

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """The chunk's own rest, or sentences up to the target length from elsewhere in its document or in another."""
        label = np.where(chunks.elsewhere, _kinds(documents, key)[chunks.first], _ADJACENT)
        start, length = second_segments(chunks, documents, chosen=label == _OTHER_DOCUMENT, key=key)
        apart = np.flatnonzero(label == _SAME_DOCUMENT)
        start[apart, 1], length[apart, 1] = _apart(
            documents.ranges[chunks.document[apart]],
            chunks.first[apart],
            chunks.split[apart],
            chunks.target[apart],
            documents.sentence_offsets,
            substream(key, _APART),
        )
        counts = {
            f"repeated_{name}": int(length[label == number, 1].sum())
            for number, name in enumerate(self.label_names)
            if number != _ADJACENT
        }
        return Pairs(start, length, label, counts)


def _kinds(documents: Documents, key: np.uint64) -> np.ndarray:
    """What a pair that begins at each sentence is to be: int64 (S,)."""
    bits = draws(substream(key, _KIND), np.arange(len(documents.sentence_offsets) - 1))
    third = (bits % np.uint64(3)).astype(np.int64)
    half = (bits >> np.uint64(63)).astype(np.int64)
    if len(documents.ranges) < 2:
        third, other = half * _SAME_DOCUMENT, _ADJACENT
    else:
        other = _OTHER_DOCUMENT
    is_short = np.zeros(len(bits) + 1, np.int64)
    short = documents.ranges[(documents.ranges[:, 1] - documents.ranges[:, 0]) < _FEWEST]
    is_short[short[:, 0]] += 1
    np.subtract.at(is_short, short[:, 1], 1)
    return np.where(np.cumsum(is_short[:-1]) > 0, half * other, third)


def _num_filled(documents: Documents) -> np.ndarray:
    """Sentences with tokens of each document: int64 (D,)."""
    filled = np.concatenate([[0], np.cumsum(np.diff(documents.sentence_offsets) > 0)])
    return filled[documents.ranges[:, 1]] - filled[documents.ranges[:, 0]]


@compiled
def _apart(ranges, first, split, target, offsets, key):
    """Sentences of the same document that neither overlap [first, split) nor touch it: first token and length, (C,)."""
    start, length = np.empty(first.shape[0], np.int64), np.empty(first.shape[0], np.int64)
    for c in range(first.shape[0]):
        before = max(first[c] - 1 - ranges[c, 0], 0)
        after = max(ranges[c, 1] - split[c] - 1, 0)
        drawn = np.int64(draw(key, np.uint64(first[c])) % np.uint64(before + after))
        if drawn < before:
            begin, limit = ranges[c, 0] + drawn, first[c] - 1
        else:
            begin, limit = split[c] + 1 + drawn - before, ranges[c, 1]
        own = offsets[split[c]] - offsets[first[c]]
        stop = begin + 1
        while stop < limit and own + offsets[stop] - offsets[begin] < target[c]:
            stop += 1
        start[c], length[c] = offsets[begin], offsets[stop] - offsets[begin]
    return start, length
