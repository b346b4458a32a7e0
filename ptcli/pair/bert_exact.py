"""Next sentence prediction with the labels of BERT's published code, for parity with it."""

import numpy as np

from ptcli.pair.chunks import Chunks, Pairs, substream
from ptcli.pair.elsewhere import check_elsewhere, second_segments
from ptcli.randomness import draws
from ptcli.store.documents import Documents

TRIES = 10
"""How often the published code of BERT and ALBERT draws a document before it takes the chunk's own."""

_ELSEWHERE = 0


class BertExact:
    """BERT's pair task (arXiv:1810.04805) as its published code makes it: label 0 is next, 1 random.

    It reproduces two flaws. A chunk of one sentence is a random pair whatever its coin, so that more than half of all
    pairs are random, and all of those of a document of one sentence. And the random document is drawn among all, ten
    times at most until it is another one: among few documents it may be the same, and the label is not true. Use
    pair=next_sentence for true labels that halve. Not reproduced: a sentence longer than a row is cut by the packing.
    """

    num_labels = 2
    segments = 2
    label_names = ("next", "random")
    split_length = None

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError unless a shard holds two documents, and some document two sentences."""
        check_elsewhere(documents, pair="bert_exact", split_length=None)

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """A fair coin for each sentence."""
        coins = draws(substream(key, _ELSEWHERE), np.arange(len(documents.sentence_offsets) - 1))
        return coins >= np.uint64(1 << 63)

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """The chunk's own rest, or sentences from a random place, most often of another document."""
        random = chunks.elsewhere | (chunks.split == chunks.end)
        start, length = second_segments(chunks, documents, chosen=random, key=key, tries=TRIES)
        return Pairs(start, length, random.astype(np.int64), {"repeated_random": int(length[random, 1].sum())})
