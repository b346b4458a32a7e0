"""Next sentence prediction: does the second segment follow the first, or is it from another document?"""

import numpy as np

from ptcli.pair.chunks import Chunks, Pairs, checked_split_length, substream
from ptcli.pair.elsewhere import check_elsewhere, second_segments
from ptcli.randomness import draws
from ptcli.store.documents import Documents

_ELSEWHERE = 0


class NextSentence:
    """BERT's pair task (Devlin et al., arXiv:1810.04805): label 0 is the true next segment, 1 a random one.

    Differs from the published code (pair=bert_exact) in three ways, so that labels are true and halve exactly: the
    random segment is never from the same document; a chunk of one sentence does not become a random pair by force (a
    lone sentence of `split_length` tokens or more is cut in two, a shorter one left out and counted as "one_sentence");
    and in a shard with one document only, where there is no elsewhere, every pair is a true one.
    """

    num_labels = 2
    segments = 2
    label_names = ("next", "random")

    def __init__(self, *, split_length: int = 16):
        self.split_length = checked_split_length(split_length)

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless a shard holds two documents, and some document can be split in two."""
        check_elsewhere(documents, pair="next_sentence", split_length=self.split_length)

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """A fair coin for each sentence."""
        if len(documents.ranges) < 2:
            return None
        coins = draws(substream(key, _ELSEWHERE), np.arange(len(documents.sentence_offsets) - 1))
        return coins >= np.uint64(1 << 63)

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """The chunk's own rest, or sentences from a random place of another document up to the target length."""
        start, length = second_segments(chunks, documents, chosen=chunks.elsewhere, key=key)
        repeated = int(length[chunks.elsewhere, 1].sum())
        return Pairs(start, length, chunks.elsewhere.astype(np.int64), {"repeated_random": repeated})
