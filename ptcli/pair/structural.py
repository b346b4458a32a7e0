"""Three-way sentence structure: does the second segment follow the first, come before it, or from elsewhere?"""

import numpy as np

from ptcli.pair.chunks import Chunks, Pairs, checked_split_length, substream
from ptcli.pair.elsewhere import check_elsewhere, second_segments
from ptcli.randomness import draws
from ptcli.store.documents import Documents

_ELSEWHERE, _SWAP = 0, 3
_NEXT, _PREVIOUS, _RANDOM = range(3)


class Structural:
    """StructBERT's sentence objective (Wang et al., arXiv:1908.04577), a third each: label 0 is the next segment, 1 the
    previous one, 2 one from another document.

    The paper numbers no labels; these begin with BERT's. Random segments and documents of one sentence are those of
    pair=next_sentence. In a shard with one document only, where there is no elsewhere, labels 0 and 1 halve.
    """

    num_labels = 3
    segments = 2
    label_names = ("next", "previous", "random")

    def __init__(self, *, split_length: int = 16):
        self.split_length = checked_split_length(split_length)

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless a shard holds two documents, and some document can be split in two."""
        check_elsewhere(documents, pair="structural", split_length=self.split_length)

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """A third of the sentences, drawn."""
        if len(documents.ranges) < 2:
            return None
        return draws(substream(key, _ELSEWHERE), np.arange(len(documents.sentence_offsets) - 1)) % np.uint64(3) == 0

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """Both parts of a chunk in order or, by a fair coin, swapped before any truncation; or a random second one."""
        start, length = second_segments(chunks, documents, chosen=chunks.elsewhere, key=key)
        previous = ~chunks.elsewhere & (draws(substream(key, _SWAP), chunks.first) >= np.uint64(1 << 63))
        start[previous], length[previous] = start[previous, ::-1], length[previous, ::-1]
        label = np.where(chunks.elsewhere, _RANDOM, np.where(previous, _PREVIOUS, _NEXT))
        return Pairs(start, length, label, {"repeated_random": int(length[chunks.elsewhere, 1].sum())})
