"""One example a document, as short or as long as it is: for corpora of lines."""

import numpy as np

from ptcli.packing.index import Index, unpaired
from ptcli.packing.segment_pair import index_of
from ptcli.packing.segments import Segments, room_for
from ptcli.pair.chunks import Pair
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class Lines:
    """A document is an example is a row; with corpus.documents=line a line is. Nothing is joined, nothing cut in two.

    For queries, titles, single sentences: texts as short as those of the task that follows. One longer than a row
    loses its end, which is counted as "dropped_truncated". Use packing=doc_sentences where no text may be lost.
    """

    isolated = False
    max_segments = 1

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard, in the order of the text; the same in every epoch. ConfigError: max_length is too
        small."""
        assert pair.segments == 1, "lines makes one segment"
        room = room_for(layout, max_length=max_length, segments=1)
        bounds = documents.sentence_offsets[documents.ranges]  # (D, 2)
        bounds = bounds[bounds[:, 1] > bounds[:, 0]]
        start, whole = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        length = np.minimum(whole, room)
        counts = {"dropped_truncated": int((whole - length).sum()), "cut_documents": int((whole > room).sum())}
        segments = Segments(start[:, None], length[:, None], unpaired(len(start)), counts)
        rows = np.arange(len(start) + 1)
        return index_of(segments, shard=documents.shard, layout=layout, row_examples=rows)
