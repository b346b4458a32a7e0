"""Where in the text the positions of rows come from: for evaluation, which reports by document. numpy only."""

import numpy as np

from ptcli.packing.index import Index
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout


def documents_of(index: Index, rows: np.ndarray, documents: Documents, layout: Layout) -> np.ndarray:
    """Which of `documents.ranges` each position of `rows` belongs to, in the order of `gather`: int64 (N,).

    A special token counts with the token before it, those that begin an example with the token behind them.
    """
    examples = _concatenated_ranges(index.row_examples[rows], index.row_examples[rows + 1])
    first, last = index.example_pieces[examples], index.example_pieces[examples + 1]
    pieces = _concatenated_ranges(first, last)
    length = index.piece_length[pieces].astype(np.int64)
    ends = np.cumsum(last - first)
    before, after = np.zeros_like(length), np.full_like(length, len(layout.between))
    before[ends - (last - first)] = len(layout.prefix)
    after[ends - 1] = len(layout.suffix)
    size = before + length + after
    within = _concatenated_ranges(np.zeros_like(size), size) - np.repeat(before, size)
    tokens = np.repeat(index.piece_start[pieces], size) + np.clip(within, 0, np.repeat(length, size) - 1)
    begins = documents.sentence_offsets[documents.ranges[:, 0]]
    return np.searchsorted(begins, tokens, side="right") - 1


def _concatenated_ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The numbers of [first[0], last[0]), then of [first[1], last[1]), and so on: int64."""
    size = last - first
    ends = np.cumsum(size)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - size - first, size)
