"""Rows of an index become flat examples, are masked, and are laid out as (B, S) arrays. numpy only.

Masks work on the flat examples, before rows exist: a packed row and a padded row hold the same masked examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.compiled import compiled
from ptcli.mask.examples import Examples, Masked
from ptcli.packing.index import Index
from ptcli.tokenizer.vocabulary import Vocabulary


class TokenShard(Protocol):
    """The two arrays of a store's shard that collation reads."""

    tokens: Any  # uint16 or uint32 (T,)
    word_starts: Any  # uint8, one bit a token, little bit order


@dataclass(frozen=True, slots=True)
class Gathered:
    """Flat examples of some rows, with what laying them out needs."""

    examples: Examples
    segments: np.ndarray  # uint8 (N,)
    pair_labels: np.ndarray  # int64 (E,)
    row_of_example: np.ndarray  # int64 (E,): row number within the batch, ascending
    num_rows: int


def gather(index: Index, shard: TokenShard, rows: np.ndarray, vocabulary: Vocabulary) -> Gathered:
    """The examples of `rows` (int64) of one index, special tokens put in, flat and in row order."""
    counts = index.row_examples[rows + 1] - index.row_examples[rows]
    row_of_example = np.repeat(np.arange(rows.shape[0]), counts)
    firsts = np.repeat(index.row_examples[rows] - (np.cumsum(counts) - counts), counts)
    chosen = firsts + np.arange(row_of_example.shape[0])
    layout = vocabulary.layout
    tokens, offsets, maskable, word_starts, segments = _flatten(
        index.piece_start,
        index.piece_length,
        index.piece_segment,
        index.example_pieces,
        chosen,
        np.asarray(shard.tokens),
        np.asarray(shard.word_starts),
        np.array(layout.prefix, np.int32),
        np.array(layout.between, np.int32),
        np.array(layout.suffix, np.int32),
        vocabulary.special,
    )
    keys = index.example_keys(chosen)
    examples = Examples(tokens, offsets, maskable, word_starts, keys)
    return Gathered(examples, segments, index.pair_labels[chosen], row_of_example, rows.shape[0])


def join(parts: Sequence[Gathered]) -> Gathered:
    """Several gathered parts as one batch, rows in the order of the parts."""
    if len(parts) == 1:
        return parts[0]
    token_bases = np.cumsum([0] + [part.examples.tokens.shape[0] for part in parts])
    row_bases = np.cumsum([0] + [part.num_rows for part in parts])
    offsets = [part.examples.offsets[:-1] + base for part, base in zip(parts, token_bases, strict=False)]
    examples = Examples(
        np.concatenate([part.examples.tokens for part in parts]),
        np.concatenate([*offsets, token_bases[-1:]]),
        np.concatenate([part.examples.maskable for part in parts]),
        np.concatenate([part.examples.word_starts for part in parts]),
        np.concatenate([part.examples.keys for part in parts]),
    )
    return Gathered(
        examples,
        np.concatenate([part.segments for part in parts]),
        np.concatenate([part.pair_labels for part in parts]),
        np.concatenate([part.row_of_example + base for part, base in zip(parts, row_bases, strict=False)]),
        int(row_bases[-1]),
    )


def lay_out(gathered: Gathered, masked: Masked, *, pad_token_id: int, length: int) -> dict[str, np.ndarray]:
    """The batch contract's arrays, (B, length) each: examples of a row one after the other, then padding."""
    shape = (gathered.num_rows, length)
    arrays = {
        "input_ids": np.full(shape, pad_token_id, np.int64),
        "attention_mask": np.zeros(shape, np.int64),
        "token_type_ids": np.zeros(shape, np.int64),
        "position_ids": np.zeros(shape, np.int64),
        "sequence_ids": np.zeros(shape, np.int64),
        "labels": np.full(shape, IGNORE_INDEX, np.int64),
        "pair_labels": np.full(shape, IGNORE_INDEX, np.int64),
    }
    _place(
        gathered.examples.offsets,
        gathered.row_of_example,
        gathered.segments,
        gathered.pair_labels,
        masked.input_ids,
        masked.labels,
        *arrays.values(),
    )
    for name in ("label", "pair"):
        scored = arrays["labels" if name == "label" else "pair_labels"]
        arrays[f"{name}_positions"] = np.flatnonzero(scored.ravel() != IGNORE_INDEX)
    return arrays


def longest_row(gathered: Gathered) -> int:
    """Tokens in the fullest row."""
    lengths = np.diff(gathered.examples.offsets)
    return int(np.bincount(gathered.row_of_example, weights=lengths, minlength=gathered.num_rows).max())


@compiled
def _flatten(start, length, segment, example_pieces, chosen, tokens, bits, prefix, between, suffix, special):
    n = 0
    for i in range(chosen.shape[0]):
        first, last = example_pieces[chosen[i]], example_pieces[chosen[i] + 1]
        n += prefix.shape[0] + suffix.shape[0] + (last - first - 1) * between.shape[0]
        for p in range(first, last):
            n += length[p]
    out = np.empty(n, np.int32)
    offsets = np.empty(chosen.shape[0] + 1, np.int64)
    maskable = np.zeros(n, np.bool_)
    word_starts = np.zeros(n, np.bool_)
    segments = np.empty(n, np.uint8)
    at = 0
    for i in range(chosen.shape[0]):
        offsets[i] = at
        first, last = example_pieces[chosen[i]], example_pieces[chosen[i] + 1]
        for k in range(prefix.shape[0]):
            out[at] = prefix[k]
            segments[at] = segment[first]
            at += 1
        for p in range(first, last):
            for j in range(length[p]):
                t = start[p] + j
                token = tokens[t]
                out[at] = token
                maskable[at] = not special[token]
                word_starts[at] = j == 0 or (bits[t >> 3] >> (t & 7)) & 1
                segments[at] = segment[p]
                at += 1
            after = between if p + 1 < last else suffix
            for k in range(after.shape[0]):
                out[at] = after[k]
                segments[at] = segment[p]
                at += 1
    offsets[chosen.shape[0]] = at
    return out, offsets, maskable, word_starts, segments


@compiled
def _place(
    offsets,
    row_of_example,
    segments,
    example_pair_labels,
    masked_ids,
    masked_labels,
    input_ids,
    attention_mask,
    token_type_ids,
    position_ids,
    sequence_ids,
    labels,
    pair_labels,
):
    row, at, sequence = -1, 0, 0
    for e in range(row_of_example.shape[0]):
        if row_of_example[e] != row:
            row, at, sequence = row_of_example[e], 0, 0
        sequence += 1
        # Classification reads an example's first position: [CLS] or <s>.
        pair_labels[row, at] = example_pair_labels[e]
        for position in range(offsets[e + 1] - offsets[e]):
            flat = offsets[e] + position
            input_ids[row, at] = masked_ids[flat]
            attention_mask[row, at] = 1
            token_type_ids[row, at] = segments[flat]
            position_ids[row, at] = position
            sequence_ids[row, at] = sequence
            labels[row, at] = masked_labels[flat]
            at += 1
