"""What packing makes: rows of examples of pieces, as flat arrays of offsets into a shard's tokens."""

from dataclasses import dataclass, field, replace

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.compiled import compiled
from ptcli.randomness import draw, mix


@dataclass(frozen=True, slots=True)
class Index:
    """All rows that one shard gives in one data epoch.

    A row holds examples; an example is the layout's prefix, then pieces with `between` among them, then its suffix; a
    piece is a stretch of the shard's tokens with a segment id. A pure function of (documents, settings, seed, epoch).
    """

    shard: int
    piece_start: np.ndarray  # int64 (P,): first token in the shard
    piece_length: np.ndarray  # int32 (P,)
    piece_segment: np.ndarray  # uint8 (P,): segment id, 0 or 1
    example_pieces: np.ndarray  # int64 (E + 1,): the pieces of example e are [e], [e + 1]
    row_examples: np.ndarray  # int64 (R + 1,)
    pair_labels: np.ndarray  # int64 (E,): IGNORE_INDEX where there is no pair
    counts: dict[str, int] = field(default_factory=dict)  # "dropped_<reason>" tokens, "skipped_<reason>" documents, ...

    @property
    def num_rows(self) -> int:
        """Rows in this index."""
        return self.row_examples.shape[0] - 1

    @property
    def num_examples(self) -> int:
        """Examples in this index."""
        return self.example_pieces.shape[0] - 1

    def one_example_a_row(self) -> "Index":
        """The same examples, each in a row of its own."""
        return replace(self, row_examples=np.arange(self.num_examples + 1, dtype=np.int64))

    def row_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Tokens of text in each of `rows`, special ones not counted: int64."""
        return _row_tokens(self.piece_length, self.example_pieces, self.row_examples, rows)

    def example_keys(self, examples: np.ndarray) -> np.ndarray:
        """uint64: the identity of each of `examples`, from where its pieces lie; the same however rows are laid out."""
        return _example_keys(np.uint64(self.shard), self.piece_start, self.piece_length, self.example_pieces, examples)


@compiled
def _example_keys(shard, piece_start, piece_length, example_pieces, examples):
    keys = np.empty(examples.shape[0], np.uint64)
    for i in range(keys.shape[0]):
        e = examples[i]
        key = mix(shard + np.uint64(1))
        for p in range(example_pieces[e], example_pieces[e + 1]):
            key = draw(key, np.uint64(piece_start[p]))
            key = draw(key, np.uint64(piece_length[p]))
        keys[i] = key
    return keys


@compiled
def _row_tokens(piece_length, example_pieces, row_examples, rows):
    out = np.zeros(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        first, last = row_examples[rows[i]], row_examples[rows[i] + 1]
        for p in range(example_pieces[first], example_pieces[last]):
            out[i] += piece_length[p]
    return out


def unpaired(num_examples: int) -> np.ndarray:
    """Pair labels of examples that are no pairs."""
    return np.full(num_examples, IGNORE_INDEX, np.int64)
