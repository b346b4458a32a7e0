"""Whole sentences until a row is full, never across documents."""

import numpy as np

from ptcli.packing.index import Index
from ptcli.packing.segment_pair import index_of
from ptcli.packing.segments import make_segments
from ptcli.pair.chunks import Pair
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class DocSentences:
    """DOC-SENTENCES (Liu et al., arXiv:1907.11692): one example a row, of sentences of one document.

    What is left of a document is a short row of its own: raise batch.size, and group rows by length. A sentence longer
    than a row is cut at the full length; no token is dropped (the published code drops rows of one token). Text keeps
    its order, and documents are cut at the same places in every epoch.
    """

    isolated = False
    max_segments = 1

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch, in the order of the text. ConfigError: max_length is too small."""
        assert pair.segments == 1, "doc_sentences makes one segment"
        segments = make_segments(
            documents,
            layout=layout,
            pair=pair,
            max_length=max_length,
            short_sequence_probability=0.0,
            sentence_window=1.0,
            move_cuts=False,
            seed=seed,
            epoch=epoch,
        )
        rows = np.arange(len(segments.labels) + 1)
        return index_of(segments, shard=documents.shard, layout=layout, row_examples=rows)
