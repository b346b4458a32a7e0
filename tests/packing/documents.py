"""Documents from lists of sentence lengths, and an index read back as lists: for tests of pair and packing."""

from itertools import pairwise

import numpy as np

from ptcli.packing.index import Index
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout

BERT = Layout(prefix=(1,), between=(2,), suffix=(2,))
ROBERTA = Layout(prefix=(1,), between=(2, 2), suffix=(2,))


def documents_of(lengths: list[list[int]], shard: int = 0) -> Documents:
    """One document for each list, one sentence of so many tokens for each number."""
    offsets = np.concatenate([[0], np.cumsum([n for document in lengths for n in document])]).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum([len(document) for document in lengths])]).astype(np.int64)
    return Documents(shard, offsets, np.stack([bounds[:-1], bounds[1:]], axis=1))


def lognormal_documents(num_documents: int, seed: int, sentences: float = 12.0) -> Documents:
    """Documents of about `sentences` sentences of about 25 tokens, both lognormal, as in web text."""
    generator = np.random.default_rng(seed)
    sizes = 1 + generator.lognormal(np.log(sentences) - 0.5, 1.0, num_documents).astype(np.int64)
    lengths = 1 + generator.lognormal(np.log(24) - 0.18, 0.6, sizes.sum()).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return Documents(0, np.concatenate([[0], np.cumsum(lengths)]), np.stack([bounds[:-1], bounds[1:]], axis=1))


def document_of_token(documents: Documents) -> np.ndarray:
    """The document of every token of the shard, -1 outside all: int64 (T,)."""
    out = np.full(documents.sentence_offsets[-1], -1)
    for d, (first, last) in enumerate(documents.ranges):
        out[documents.sentence_offsets[first] : documents.sentence_offsets[last]] = d
    return out


def examples(index: Index) -> list[list[tuple[int, int, int]]]:
    """(start, length, segment) of the pieces of each example."""
    pieces = list(
        zip(index.piece_start.tolist(), index.piece_length.tolist(), index.piece_segment.tolist(), strict=True)
    )
    bounds = index.example_pieces.tolist()
    return [pieces[a:b] for a, b in pairwise(bounds)]


def row_lengths(index: Index, layout: Layout) -> np.ndarray:
    """Tokens of each row, special ones included."""
    sizes = [sum(p[1] for p in example) + layout.num_special(len(example)) for example in examples(index)]
    return np.add.reduceat([*sizes, 0], index.row_examples[:-1]) if index.num_rows else np.empty(0, np.int64)


def times_used(index: Index, num_tokens: int) -> np.ndarray:
    """How often each token of the shard stands in the index: int64 (T,)."""
    change = np.zeros(num_tokens + 1, np.int64)
    np.add.at(change, index.piece_start, 1)
    np.add.at(change, index.piece_start + index.piece_length, -1)
    return np.cumsum(change)[:-1]


def same(a: Index, b: Index) -> bool:
    """Whether two indexes hold the same rows."""
    names = ("piece_start", "piece_length", "piece_segment", "example_pieces", "row_examples", "pair_labels")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names) and a.counts == b.counts


def check_index(index: Index, documents: Documents, layout: Layout, max_length: int) -> None:
    """What holds for every index: sound arrays, true counts, no row too long, no token lost, none out of nowhere."""
    total = int(documents.sentence_offsets[-1])
    assert index.shard == documents.shard
    assert index.piece_start.dtype == np.int64
    assert index.piece_length.dtype == np.int32
    assert index.piece_segment.dtype == np.uint8
    assert np.all(index.piece_length >= 1)
    assert index.example_pieces[0] == index.row_examples[0] == 0
    assert index.example_pieces[-1] == len(index.piece_start) == len(index.piece_length) == len(index.piece_segment)
    assert index.row_examples[-1] == index.num_examples == len(index.pair_labels)
    assert np.all(np.diff(index.example_pieces) >= 1)
    assert np.all(np.diff(index.row_examples) >= 1)

    rows = row_lengths(index, layout)
    assert np.all(rows <= max_length)
    assert (index.counts["rows"], index.counts["examples"]) == (index.num_rows, index.num_examples)
    assert index.counts["tokens"] == rows.sum()

    owner = document_of_token(documents)
    last = index.piece_start + index.piece_length - 1
    assert np.all(owner[index.piece_start] == owner[last])
    assert np.all(owner[index.piece_start] >= 0)
    used = times_used(index, total)
    dropped = sum(n for name, n in index.counts.items() if name.startswith("dropped_"))
    repeated = sum(n for name, n in index.counts.items() if name.startswith("repeated_"))
    assert used.sum() + dropped == documents.num_tokens + repeated
    if not repeated:
        assert used.max(initial=0) <= 1
    if not dropped:
        assert np.all(used[owner >= 0] >= 1)
