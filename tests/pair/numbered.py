"""Pairs read back as numbered sentences."""

from typing import NamedTuple

import numpy as np

from ptcli.packing.segment_pair import SegmentPair
from ptcli.packing.sentence_pair import SentencePair
from tests.packing.documents import BERT, document_of_token

PACKINGS = (SegmentPair, SentencePair)


class Read(NamedTuple):
    """E pairs: first and last sentence and document of both segments, their tokens, and the label."""

    first: np.ndarray  # (E, 2)
    last: np.ndarray  # (E, 2)
    document: np.ndarray  # (E, 2)
    start: np.ndarray  # (E, 2): first token of both segments
    stop: np.ndarray  # (E, 2)
    whole: np.ndarray  # bool (E,): there was room left, so no token was dropped
    label: np.ndarray  # (E,)
    counts: dict[str, int]


def read(documents, pair, *, max_length=64, seed=0, epoch=0, short=0.1, packing=SegmentPair) -> Read:
    """Make pairs of the documents and look up which sentences they hold."""
    made = (SegmentPair(short_sequence_probability=short) if packing is SegmentPair else packing()).index(
        documents, layout=BERT, pair=pair, max_length=max_length, seed=seed, epoch=epoch
    )
    start = made.piece_start.reshape(-1, 2)
    stop = start + made.piece_length.reshape(-1, 2)
    offsets = documents.sentence_offsets
    first = np.searchsorted(offsets, start, side="right") - 1
    last = np.searchsorted(offsets, stop, side="left") - 1
    whole = (stop - start).sum(axis=1) < max_length - BERT.num_special(2)
    owner = document_of_token(documents)
    return Read(first, last, owner[start], start, stop, whole, made.pair_labels, made.counts)
