"""Whole sentences until a row is full, across documents: RoBERTa's way."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.packing.index import Index, unpaired
from ptcli.packing.segments import room_for
from ptcli.packing.sentences import cut_sentences
from ptcli.pair.chunks import Pair
from ptcli.randomness import draw, key_of
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class FullSentences:
    """FULL-SENTENCES (Liu et al., arXiv:1907.11692): one example a row, and separators where a document ends in it.

    All of a row sees all of it, neighbouring documents too. A sentence longer than a row is cut ("cut_sentences"); no
    token is dropped. As in the paper's code, text keeps its order and rows are much the same in every epoch: the first
    row's length is drawn, and cuts move until they meet those of another epoch again.
    """

    isolated = False
    max_segments = 1
    fills_rows = True

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch, in the order of the text. ConfigError: max_length is too small."""
        assert pair.segments == 1, "full_sentences makes one segment"
        room = room_for(layout, max_length=max_length, segments=1)
        documents, counts = cut_sentences(documents, longest=room, piece=room)
        key = key_of(seed, "packing", epoch, documents.shard)
        first_room = room - int(draw(key, np.uint64(0)) % np.uint64(room // 2 + 1))
        between = len(layout.between)
        start, length, rows = _fill(documents.sentence_offsets, documents.ranges, between, first_room, room)
        num_rows, num_pieces = len(rows) - 1, len(start)
        special = num_rows * layout.num_special(1) + (num_pieces - num_rows) * between
        counts |= {"tokens": int(length.sum()) + special, "examples": num_rows, "rows": num_rows}
        return Index(
            shard=documents.shard,
            piece_start=start,
            piece_length=length,
            piece_segment=np.zeros(num_pieces, np.uint8),
            example_pieces=rows,
            row_examples=np.arange(num_rows + 1),
            pair_labels=unpaired(num_rows),
            counts=counts,
        )


@compiled
def _fill(offsets, ranges, between, first_room, room):
    """Pieces (start, length) and where each row begins among them."""
    most = (ranges[:, 1] - ranges[:, 0]).sum()
    start, length = np.empty(most, np.int64), np.empty(most, np.int32)
    rows = np.empty(most + 1, np.int64)
    count, num_rows, used, limit = 0, 0, 0, first_room
    for d in range(ranges.shape[0]):
        sentence, last = ranges[d, 0], ranges[d, 1]
        while sentence < last:
            needed = offsets[sentence + 1] - offsets[sentence]
            if used > 0 and used + between + needed > limit:
                used, limit = 0, room
            if used > 0:
                used += between
            else:
                rows[num_rows] = count
                num_rows += 1
                limit = max(limit, needed)
            begin = offsets[sentence]
            while sentence < last and used + offsets[sentence + 1] - begin <= limit:
                sentence += 1
            start[count], length[count] = begin, offsets[sentence] - begin
            used += length[count]
            count += 1
    rows[num_rows] = count
    return start[:count].copy(), length[:count].copy(), rows[: num_rows + 1].copy()
