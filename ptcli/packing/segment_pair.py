"""One example a row, made of whole sentences of one document: BERT's way."""

import numpy as np

from ptcli.errors import ConfigError
from ptcli.packing.index import Index
from ptcli.packing.segments import Segments, make_segments
from ptcli.pair.chunks import Pair
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


class SegmentPair:
    """Sentences of one document up to the length, in two segments where the pair has two (arXiv:1810.04805).

    With a second segment, sentences are collected until the length is reached, and what is too many is dropped token by
    token from the longer segment, at its front or back ("dropped_truncated"), as BERT does. With `pair=none` an example
    takes only sentences that fit (a longer one is cut), no token is dropped, and documents are cut at the same places
    in every epoch, but for those drawn to be short.
    """

    isolated = False
    max_segments = 2

    def __init__(self, *, short_sequence_probability: float = 0.1):
        self.short_sequence_probability = checked_share(
            short_sequence_probability, "packing.short_sequence_probability"
        )

    def index(
        self, documents: Documents, *, layout: Layout, pair: Pair, max_length: int, seed: int, epoch: int
    ) -> Index:
        """The rows of one shard in one data epoch, in the order of the text. ConfigError: max_length is too small."""
        segments = make_segments(
            documents,
            layout=layout,
            pair=pair,
            max_length=max_length,
            short_sequence_probability=self.short_sequence_probability,
            sentence_window=1.0,
            move_cuts=False,  # would make more rows, each with padding
            seed=seed,
            epoch=epoch,
        )
        rows = np.arange(len(segments.labels) + 1)
        return index_of(segments, shard=documents.shard, layout=layout, row_examples=rows)


def index_of(segments: Segments, *, shard: int, layout: Layout, row_examples: np.ndarray) -> Index:
    """The index of examples that lie in rows as `row_examples` says (int64 (R + 1,))."""
    num_examples, width = segments.start.shape
    tokens = int(segments.length.sum()) + num_examples * layout.num_special(width)
    counts = {"tokens": tokens, "examples": num_examples, "rows": len(row_examples) - 1} | segments.counts
    return Index(
        shard=shard,
        piece_start=segments.start.ravel(),
        piece_length=segments.length.ravel().astype(np.int32),
        piece_segment=np.tile(np.arange(width, dtype=np.uint8), num_examples),
        example_pieces=np.arange(num_examples + 1) * width,
        row_examples=row_examples,
        pair_labels=segments.labels,
        counts=counts,
    )


def checked_share(value: float, key: str) -> float:
    """`value`, or ConfigError where it is no share of one."""
    if not 0 <= value <= 1:
        raise ConfigError(f"{key}={value} is no share: use a number from 0 to 1.")
    return value
