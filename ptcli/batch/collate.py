"""Rows of an index become flat examples, are masked, and are laid out as (B, S) arrays. numpy only.

Masks work on the flat examples, before rows exist: a packed row and a padded row hold the same masked examples.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ptcli.batch.columns import Places, columns_of
from ptcli.batch.contract import LABELS, PAIR_LABELS, Column
from ptcli.compiled import compiled
from ptcli.mask.examples import Examples, Masked
from ptcli.packing.index import Index
from ptcli.store.documents import Documents
from ptcli.store.units import Units
from ptcli.tokenizer.vocabulary import Vocabulary

_LAID_OUT = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "sequence_ids")


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
    """Flat examples of some rows, and what laying them out needs. `examples` have the column `segments`, uint8 (N,)."""

    examples: Examples
    row_of_example: np.ndarray  # int64 (E,): row number within the batch, ascending
    num_rows: int
    added: Mapping[str, np.ndarray]  # columns of the batch by name, beside those of the examples
    classify_last: bool = False  # as in the tokenizer's layout

    def values_of(self, column: Column) -> np.ndarray:
        """A column that a part adds, before it is laid out."""
        return self.examples[column.name] if column.name in self.examples else self.added[column.name]


def gather(
    index: Index,
    shard: TokenShard,
    rows: np.ndarray,
    vocabulary: Vocabulary,
    *,
    documents: Documents | None = None,
    first_document: int = 0,
    needs: Iterable[str] = (),
) -> Gathered:
    """The examples of `rows` (int64) of one index, special tokens put in, flat and in row order.

    `needs`: columns that are wanted of them (ptcli/batch/columns.py), for which `documents`, those of the index, are
    asked; `first_document` is the number of the first of them.
    """
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
    columns = {"segments": segments}
    if needs:
        assert documents is not None, "columns are made from documents"
        columns |= columns_of(Places(index, chosen, documents, shard, layout, first_document), needs)
    examples = Examples(tokens, offsets, maskable, word_starts, index.example_keys(chosen), columns)
    added = {PAIR_LABELS.name: index.pair_labels[chosen]}
    return Gathered(examples, row_of_example, rows.shape[0], added, layout.classify_last)


def join(parts: Sequence[Gathered], columns: Sequence[Column] = (PAIR_LABELS,)) -> Gathered:
    """Several gathered parts as one batch, rows in the order of the parts. `columns`: declarations of what is added."""
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
        {name: np.concatenate([part.examples[name] for part in parts]) for name in parts[0].examples.columns},
    )
    kinds = {column.name: column.kind for column in columns}
    added = {
        name: np.concatenate(
            [
                part.added[name] + base * (kinds[name] == "position")
                for part, base in zip(parts, token_bases, strict=False)
            ]
        )
        for name in parts[0].added
    }
    return Gathered(
        examples,
        np.concatenate([part.row_of_example + base for part, base in zip(parts, row_bases, strict=False)]),
        int(row_bases[-1]),
        added,
        parts[0].classify_last,
    )


def lay_out(
    gathered: Gathered,
    masked: Masked,
    *,
    pad_token_id: int,
    length: int,
    columns: Sequence[Column] = (LABELS, PAIR_LABELS),
) -> dict[str, np.ndarray]:
    """The batch contract's arrays: examples of a row one after the other, then padding; and the declared `columns`."""
    examples, shape = gathered.examples, (gathered.num_rows, length)
    laid_out = np.empty((len(_LAID_OUT), *shape), np.int64)
    places = _place(
        examples.offsets, gathered.row_of_example, examples["segments"], masked.input_ids, pad_token_id, laid_out
    )
    arrays: dict[str, np.ndarray] = dict(zip(_LAID_OUT, laid_out, strict=True))
    # Classification reads an example's first position, [CLS] or <s>, or its last one, XLNet's <cls>.
    classified = examples.offsets[1:] - 1 if gathered.classify_last else examples.offsets[:-1]
    values = {LABELS.name: masked.labels, **examples.columns, **gathered.added}
    for column in columns:
        if column.kind == "value":
            arrays[column.name] = values[column.name].astype(column.dtype)
        elif column.kind == "position":
            arrays[column.name] = places[values[column.name]]
        else:
            at = places if column.kind == "token" else places[classified]
            value, laid = values[column.name], np.full(shape, column.fill, column.dtype)
            laid.reshape(-1)[at] = value
            arrays |= {column.name: laid, column.positions: at[value != column.fill]}
    return arrays


def num_scored(arrays: Mapping[str, np.ndarray], columns: Iterable[Column]) -> dict[str, int]:
    """How many entries of each declared column of a batch are scored."""
    return {
        column.name: arrays[column.positions if column.kind in ("token", "example") else column.name].shape[0]
        for column in columns
    }


def longest_row(gathered: Gathered) -> int:
    """Tokens in the fullest row."""
    lengths = np.diff(gathered.examples.offsets)
    return int(np.bincount(gathered.row_of_example, weights=lengths, minlength=gathered.num_rows).max())


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
def _place(offsets, row_of_example, segments, masked_ids, pad_token_id, laid_out):
    """Write every place of `laid_out` (5, B, S) once; returns where each flat position lies in (B * S)."""
    input_ids, attention_mask, token_type_ids, position_ids, sequence_ids = (
        laid_out[0],
        laid_out[1],
        laid_out[2],
        laid_out[3],
        laid_out[4],
    )
    places = np.empty(masked_ids.shape[0], np.int64)
    e, length = 0, input_ids.shape[1]
    for row in range(input_ids.shape[0]):
        at, sequence = 0, 0
        while e < row_of_example.shape[0] and row_of_example[e] == row:
            sequence += 1
            begin = at
            for flat in range(offsets[e], offsets[e + 1]):
                input_ids[row, at] = masked_ids[flat]
                attention_mask[row, at] = 1
                token_type_ids[row, at] = segments[flat]
                position_ids[row, at] = at - begin
                sequence_ids[row, at] = sequence
                places[flat] = row * length + at
                at += 1
            e += 1
        for place in range(at, length):
            input_ids[row, place] = pad_token_id
            attention_mask[row, place] = 0
            token_type_ids[row, place] = 0
            position_ids[row, place] = 0
            sequence_ids[row, place] = 0
    return places
