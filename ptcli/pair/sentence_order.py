"""Sentence order prediction: do two neighbouring segments stand in their order, or swapped?"""

import numpy as np

from ptcli.errors import DataError
from ptcli.pair.chunks import Chunks, Pairs, can_split, checked_split_length
from ptcli.randomness import draws
from ptcli.store.documents import Documents


class SentenceOrder:
    """ALBERT's pair task (Lan et al., arXiv:1909.11942): label 0 is in order, 1 swapped.

    Differs from the published code (pair=albert_exact), which gives a chunk of one sentence a random other document and
    calls that swapped: here both segments are always neighbours. A document of one sentence is cut in two from
    `split_length` tokens, a shorter one is left out and counted as "one_sentence". As in that code the later segment is
    on average a little longer (its last sentence is the one that reached the target): lengths alone tell about 53 % of
    labels.
    """

    num_labels = 2
    segments = 2
    label_names = ("in_order", "swapped")

    def __init__(self, *, split_length: int = 16):
        self.split_length = checked_split_length(split_length)

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless some document can be split in two."""
        if not any(can_split(d, split_length=self.split_length) for d in documents):
            found = sum(len(d.ranges) for d in documents)
            raise DataError(
                f"pair=sentence_order has nothing to swap: each of the {found} documents is one sentence of fewer than "
                f"{self.split_length} tokens. A blank line after every line has this effect. Use another separator of "
                "documents, pair.split_length=2, or pair=none."
            )

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """None: the second segment is always the chunk's own."""

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """Both parts of each chunk, swapped by a fair coin; before any truncation, so that it gives nothing away."""
        offsets = documents.sentence_offsets
        bounds = offsets[np.stack([chunks.first, chunks.split, chunks.end], axis=1)]  # (C, 3)
        start, length = bounds[:, :2], np.diff(bounds, axis=1)
        swapped = draws(key, chunks.first) >= np.uint64(1 << 63)
        start, length = start.copy(), length.copy()
        start[swapped], length[swapped] = start[swapped, ::-1], length[swapped, ::-1]
        return Pairs(start, length, swapped.astype(np.int64))
