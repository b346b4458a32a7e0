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
from ptcli.store.units import Units
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

_LAID_OUT = (
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "position_ids",
    "sequence_ids",
    "labels",
    "pair_labels",
)


class TokenShard(Protocol):
    """What collation reads of a store's shard."""

    tokens: Any  # uint16 or uint32 (T,)
    word_starts: Any  # uint8, one bit a token, little bit order

    @property
    def units(self) -> Units | None:
        """The named units of the shard; None where the store has none."""
        ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """Flat examples of some rows, with what laying them out needs."""

    examples: Examples
    segments: np.ndarray  # uint8 (N,)
    pair_labels: np.ndarray  # int64 (E,)
    row_of_example: np.ndarray  # int64 (E,): row number within the batch, ascending
    num_rows: int
    classify_last: bool = False  # as in the tokenizer's layout


def gather(index: Index, shard: TokenShard, rows: np.ndarray, vocabulary: Vocabulary) -> Gathered:
    """The examples of `rows` (int64) of one index, special tokens put in, flat and in row order."""
    chosen, row_of_example = _examples_of(index.row_examples, rows)
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
    named = _named_units(index, shard.units, chosen, layout, tokens.shape[0]) if shard.units else (None, None)
    examples = Examples(tokens, offsets, maskable, word_starts, keys, *named)
    labels = index.pair_labels[chosen]
    return Gathered(examples, segments, labels, row_of_example, rows.shape[0], layout.classify_last)


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
        _concatenated([part.examples.unit_starts for part in parts]),
        _concatenated([part.examples.unit_types for part in parts]),
    )
    return Gathered(
        examples,
        np.concatenate([part.segments for part in parts]),
        np.concatenate([part.pair_labels for part in parts]),
        np.concatenate([part.row_of_example + base for part, base in zip(parts, row_bases, strict=False)]),
        int(row_bases[-1]),
        parts[0].classify_last,
    )


def lay_out(gathered: Gathered, masked: Masked, *, pad_token_id: int, length: int) -> dict[str, np.ndarray]:
    """The batch contract's arrays, (B, length) each: examples of a row one after the other, then padding."""
    laid_out = np.empty((len(_LAID_OUT), gathered.num_rows, length), np.int64)
    label_positions, pair_positions = _place(
        gathered.examples.offsets,
        gathered.row_of_example,
        gathered.segments,
        gathered.pair_labels,
        masked.input_ids,
        masked.labels,
        gathered.classify_last,
        pad_token_id,
        laid_out,
    )
    arrays = dict(zip(_LAID_OUT, laid_out, strict=True))
    return arrays | {"label_positions": label_positions, "pair_positions": pair_positions}


def longest_row(gathered: Gathered) -> int:
    """Tokens in the fullest row."""
    lengths = np.diff(gathered.examples.offsets)
    return int(np.bincount(gathered.row_of_example, weights=lengths, minlength=gathered.num_rows).max())


def _concatenated(parts: list[np.ndarray | None]) -> np.ndarray | None:
    """One array; None where the parts have none: all come from one store, and have it or have it not."""
    arrays = [part for part in parts if part is not None]
    assert len(arrays) in (0, len(parts))
    return np.concatenate(arrays) if arrays else None


def _named_units(
    index: Index, units: Units, chosen: np.ndarray, layout: Layout, num_positions: int
) -> tuple[np.ndarray, np.ndarray]:
    """`unit_starts` and `unit_types` of flat examples. A unit that reaches over a piece's edge is cut there."""
    starts, types = np.zeros(num_positions, bool), np.zeros(num_positions, np.uint8)
    _place_units(
        index.piece_start,
        index.piece_length,
        index.example_pieces,
        chosen,
        np.asarray(units.first),
        np.asarray(units.length),
        np.asarray(units.type),
        len(layout.prefix),
        len(layout.between),
        len(layout.suffix),
        starts,
        types,
    )
    return starts, types


@compiled
def _place_units(
    start, length, example_pieces, chosen, first, size, kind, num_prefix, num_between, num_suffix, starts, types
):
    at = 0
    for i in range(chosen.shape[0]):
        at += num_prefix
        last = example_pieces[chosen[i] + 1]
        for p in range(example_pieces[chosen[i]], last):
            begin, end = start[p], start[p] + length[p]
            u = max(np.searchsorted(first, begin, side="right") - 1, 0)  # it may reach into the piece
            while u < first.shape[0] and first[u] < end:
                inner, outer = max(first[u], begin), min(first[u] + size[u], end)
                if inner < outer:
                    starts[at + inner - begin] = True
                    for t in range(inner, outer):
                        types[at + t - begin] = kind[u] + 1
                u += 1
            at += length[p] + (num_between if p + 1 < last else num_suffix)


@compiled
def _examples_of(row_examples, rows):
    """The examples of rows, and the place among `rows` of each one's row."""
    count = 0
    for row in rows:
        count += row_examples[row + 1] - row_examples[row]
    chosen, row_of_example = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for i in range(rows.shape[0]):
        for example in range(row_examples[rows[i]], row_examples[rows[i] + 1]):
            chosen[at], row_of_example[at] = example, i
            at += 1
    return chosen, row_of_example


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
    offsets, row_of_example, segments, pair_labels_of, masked_ids, masked_labels, classify_last, pad_token_id, laid_out
):
    """Write every place of `laid_out` (7, B, S) once; returns where labels and pair labels are scored."""
    input_ids, attention_mask, token_type_ids, position_ids, sequence_ids, labels, pair_labels = (
        laid_out[0],
        laid_out[1],
        laid_out[2],
        laid_out[3],
        laid_out[4],
        laid_out[5],
        laid_out[6],
    )
    label_positions = np.empty(np.sum(masked_labels != IGNORE_INDEX), np.int64)
    pair_positions = np.empty(np.sum(pair_labels_of != IGNORE_INDEX), np.int64)
    e, num_labels, num_pairs, length = 0, 0, 0, input_ids.shape[1]
    for row in range(input_ids.shape[0]):
        at, sequence = 0, 0
        while e < row_of_example.shape[0] and row_of_example[e] == row:
            sequence += 1
            begin = at
            for flat in range(offsets[e], offsets[e + 1]):
                label = masked_labels[flat]
                input_ids[row, at] = masked_ids[flat]
                attention_mask[row, at] = 1
                token_type_ids[row, at] = segments[flat]
                position_ids[row, at] = at - begin
                sequence_ids[row, at] = sequence
                labels[row, at] = label
                pair_labels[row, at] = IGNORE_INDEX
                if label != IGNORE_INDEX:
                    label_positions[num_labels] = row * length + at
                    num_labels += 1
                at += 1
            if pair_labels_of[e] != IGNORE_INDEX:
                # Classification reads an example's first position, [CLS] or <s>, or its last one, XLNet's <cls>.
                place = at - 1 if classify_last else begin
                pair_labels[row, place] = pair_labels_of[e]
                pair_positions[num_pairs] = row * length + place
                num_pairs += 1
            e += 1
        for place in range(at, length):
            input_ids[row, place] = pad_token_id
            attention_mask[row, place] = 0
            token_type_ids[row, place] = 0
            position_ids[row, place] = 0
            sequence_ids[row, place] = 0
            labels[row, place] = IGNORE_INDEX
            pair_labels[row, place] = IGNORE_INDEX
    return label_positions, pair_positions
