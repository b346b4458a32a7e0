"""Sentence order prediction with the labels of ALBERT's published code, for parity with it."""

import numpy as np

from ptcli.errors import DataError
from ptcli.pair.bert_exact import TRIES
from ptcli.pair.chunks import Chunks, Pairs, can_split, substream
from ptcli.pair.elsewhere import second_segments
from ptcli.randomness import draws
from ptcli.store.documents import Documents

_SWAP = 3


class AlbertExact:
    """ALBERT's pair task (arXiv:1909.11942) as its published code makes it: label 0 is in order, 1 swapped.

    It reproduces one flaw: a chunk of one sentence has nothing to swap, takes a segment from a random document (drawn
    ten times at most until it is another one) and is called swapped, so that part of the task is to tell topics apart.
    Use pair=sentence_order for true labels. Not reproduced: a sentence longer than a row is cut by the packing.
    """

    num_labels = 2
    segments = 2
    label_names = ("in_order", "swapped")
    split_length = None

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless some document has two sentences."""
        if not any(can_split(d, split_length=None) for d in documents):
            found = sum(len(d.ranges) for d in documents)
            raise DataError(
                f"pair=albert_exact has nothing to swap: each of the {found} documents is one sentence. A blank line "
                "after every line has this effect. Use another separator of documents, or pair=none."
            )

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """None: no chunk of two sentences takes its second segment from elsewhere."""

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """Both parts of a chunk, swapped by a fair coin; a random second segment where there is one part only."""
        alone = chunks.split == chunks.end
        start, length = second_segments(chunks, documents, chosen=alone, key=key, tries=TRIES)
        swapped = ~alone & (draws(substream(key, _SWAP), chunks.first) >= np.uint64(1 << 63))
        start[swapped], length[swapped] = start[swapped, ::-1], length[swapped, ::-1]
        counts = {"repeated_random": int(length[alone, 1].sum())}
        return Pairs(start, length, (alone | swapped).astype(np.int64), counts)
