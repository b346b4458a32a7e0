"""Next sentence prediction: does the second segment follow the first, or is it from another document?"""

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError, DataError
from ptcli.pair.chunks import Chunks, Pairs, can_split, substream
from ptcli.randomness import draw, draws
from ptcli.store.documents import Documents

_ELSEWHERE, _DOCUMENT, _SENTENCE = range(3)


class NextSentence:
    """BERT's pair task (Devlin et al., arXiv:1810.04805): label 0 is the true next segment, 1 a random one.

    Differs from the published code in three ways, so that labels are true and halve exactly: the random segment is
    never from the same document; a chunk of one sentence does not become a random pair by force (a lone sentence of
    `split_length` tokens or more is cut in two, a shorter one left out and counted as "one_sentence"); and in a shard
    with one document only, where there is no elsewhere, every pair is a true one.
    """

    num_labels = 2
    segments = 2
    label_names = ("next", "random")

    def __init__(self, *, split_length: int = 16):
        if split_length < 2:
            raise ConfigError(f"pair.split_length={split_length}: two segments need 2 tokens. Use 2 or more.")
        self.split_length = split_length

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless a shard holds two documents, and some document can be split in two."""
        found = sum(len(d.ranges) for d in documents)
        if max((len(d.ranges) for d in documents), default=0) < 2:
            raise DataError(
                "pair=next_sentence takes random segments from another document of the same shard, but no shard has "
                f"two (documents found: {found}). Give more documents or another separator of documents, or use "
                "pair=sentence_order or pair=none."
            )
        if not any(can_split(d, split_length=self.split_length) for d in documents):
            raise DataError(
                f"pair=next_sentence finds no true next sentence: each of the {found} documents is one sentence of "
                f"fewer than {self.split_length} tokens. A blank line after every line has this effect. Use another "
                "separator of documents, pair.split_length=2, or pair=none."
            )

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """A fair coin for each sentence."""
        if len(documents.ranges) < 2:
            return None
        coins = draws(substream(key, _ELSEWHERE), np.arange(len(documents.sentence_offsets) - 1))
        return coins >= np.uint64(1 << 63)

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """The chunk's own rest, or sentences from a random place of another document up to the target length."""
        start, length = _pairs(
            chunks.document,
            chunks.first,
            chunks.split,
            chunks.end,
            chunks.target,
            chunks.elsewhere,
            documents.sentence_offsets,
            documents.ranges,
            substream(key, _DOCUMENT),
            substream(key, _SENTENCE),
        )
        repeated = int(length[chunks.elsewhere, 1].sum())
        return Pairs(start, length, chunks.elsewhere.astype(np.int64), {"repeated_random": repeated})


@compiled
def _pairs(document, first, split, end, target, elsewhere, offsets, ranges, document_key, sentence_key):
    start = np.empty((first.shape[0], 2), np.int64)
    length = np.empty((first.shape[0], 2), np.int64)
    for c in range(first.shape[0]):
        begin, stop = split[c], end[c]
        own = offsets[split[c]] - offsets[first[c]]
        if elsewhere[c]:
            counter = np.uint64(first[c])
            other = np.int64(draw(document_key, counter) % np.uint64(ranges.shape[0] - 1))
            if other >= document[c]:
                other += 1
            size = np.uint64(ranges[other, 1] - ranges[other, 0])
            begin = ranges[other, 0] + np.int64(draw(sentence_key, counter) % size)
            stop = begin + 1
            while stop < ranges[other, 1] and own + offsets[stop] - offsets[begin] < target[c]:
                stop += 1
        start[c, 0], length[c, 0] = offsets[first[c]], own
        start[c, 1], length[c, 1] = offsets[begin], offsets[stop] - offsets[begin]
    return start, length
