"""The text as one stream, cut into full rows wherever they end."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.packing.index import Index, unpaired
from ptcli.packing.segments import room_for
from ptcli.pair.chunks import Pair
from ptcli.randomness import draw, key_of
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class Stream:
    """Slices of exactly max_length, whatever sentences and documents they cut (as in Wettig et al., arXiv:2202.08005).

    One example a row; separators where a document ends in it, and all of a row sees all of it, neighbouring documents
    too. No token is dropped, and a row is not full only where separators would be its end, but for the first and the
    last row of a shard: the first one's length is drawn, so that cuts move from epoch to epoch.
    """

    isolated = False
    max_segments = 1
    fills_rows = True

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch, in the order of the text. ConfigError: max_length is too small."""
        assert pair.segments == 1, "stream makes one segment"
        room = room_for(layout, max_length=max_length, segments=1)
        first_room = 1 + int(draw(key_of(seed, "packing", epoch, documents.shard), np.uint64(0)) % np.uint64(room))
        between = len(layout.between)
        arguments = (documents.sentence_offsets[documents.ranges], between, first_room, room)
        num_pieces, num_rows = _slice(*arguments, np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
        start, length = np.empty(num_pieces, np.int64), np.empty(num_pieces, np.int32)
        rows = np.full(num_rows + 1, num_pieces)
        _slice(*arguments, start, length, rows)
        special = num_rows * layout.num_special(1) + (num_pieces - num_rows) * between
        return Index(
            shard=documents.shard,
            piece_start=start,
            piece_length=length,
            piece_segment=np.zeros(num_pieces, np.uint8),
            example_pieces=rows,
            row_examples=np.arange(num_rows + 1),
            pair_labels=unpaired(num_rows),
            counts={"tokens": int(length.sum()) + special, "examples": num_rows, "rows": num_rows},
        )


@compiled
def _slice(bounds, between, first_room, room, start, length, rows):
    """Fill `start` and `length` of the pieces and `rows`, where each row begins among them, or only count where they
    are empty. Returns the numbers of pieces and rows."""
    count, num_rows, left, fill = 0, 0, 0, start.shape[0] > 0
    for d in range(bounds.shape[0]):
        position, stop = bounds[d, 0], bounds[d, 1]
        begun = True  # this document's first piece, which a separator sets apart from the one before it
        while position < stop:
            needed = between if begun else 0
            if left <= needed:
                left, needed = first_room if num_rows == 0 else room, 0
                if fill:
                    rows[num_rows] = count
                num_rows += 1
            left -= needed
            taken = min(left, stop - position)
            if fill:
                start[count], length[count] = position, taken
            count += 1
            position += taken
            left -= taken
    return count, num_rows
