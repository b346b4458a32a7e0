"""The columns of flat examples that parts ask for by name (`needs`), each made from where an example's pieces lie.

A part asks for what it reads: `needs = frozenset({"sentences"})` gives it examples["sentence_starts"].
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ptcli.compiled import compiled
from ptcli.packing.index import Index
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout

NO_TOKEN = -1
"""Of special tokens: the place in the text that they do not have."""


@dataclass(frozen=True)
class Places:
    """Where in the text the positions of some examples of an index come from."""

    index: Index
    chosen: np.ndarray  # int64 (E,): numbers of examples
    documents: Documents
    shard: Any
    layout: Layout
    first_document: int  # documents before those of this index

    @cached_property
    def pieces(self) -> np.ndarray:
        """The pieces of the chosen examples, one after the other: int64 (P,)."""
        return concatenated_ranges(self.index.example_pieces[self.chosen], self.index.example_pieces[self.chosen + 1])

    @cached_property
    def around(self) -> tuple[np.ndarray, np.ndarray]:
        """Special tokens before and after each piece, int64 (P,) each: of prefix and suffix, else of `between`."""
        ends = np.cumsum(self.index.example_pieces[self.chosen + 1] - self.index.example_pieces[self.chosen])
        begins = np.concatenate(([0], ends))[:-1]
        before, after = np.zeros(len(self.pieces), np.int64), np.full(len(self.pieces), len(self.layout.between))
        before[begins], after[ends - 1] = len(self.layout.prefix), len(self.layout.suffix)
        return before, after

    @cached_property
    def piece(self) -> np.ndarray:
        """Which of `pieces` each position belongs to, special tokens with those around them: int64 (N,)."""
        before, after = self.around
        return np.repeat(np.arange(len(self.pieces)), before + self._lengths + after)

    @cached_property
    def within(self) -> np.ndarray:
        """The place of each position in its piece, below 0 and from its length on at special tokens: int64 (N,)."""
        before, after = self.around
        sizes = before + self._lengths + after
        return concatenated_ranges(np.zeros_like(sizes), sizes) - np.repeat(before, sizes)

    @cached_property
    def is_text(self) -> np.ndarray:
        """Whether a position is text, bool (N,): no special token of the layout."""
        return (self.within >= 0) & (self.within < self._lengths[self.piece])

    @cached_property
    def token(self) -> np.ndarray:
        """Which token of the shard each position is, the nearest one of its piece at special tokens: int64 (N,)."""
        last = self._lengths[self.piece] - 1
        return self.index.piece_start[self.pieces][self.piece] + np.clip(self.within, 0, last)

    @cached_property
    def _lengths(self) -> np.ndarray:
        return self.index.piece_length[self.pieces].astype(np.int64)


def sentences(places: Places) -> dict[str, np.ndarray]:
    """`sentence_starts`, bool (N,): a sentence begins here, or what is left of one at the beginning of a piece."""
    offsets = places.documents.sentence_offsets
    at = np.searchsorted(offsets, places.token)
    begins = offsets[np.minimum(at, len(offsets) - 1)] == places.token
    return {"sentence_starts": places.is_text & (begins | (places.within == 0))}


def documents(places: Places) -> dict[str, np.ndarray]:
    """`documents`, int64 (N,): the number of the document among all; special tokens count with those around them."""
    begins = places.documents.sentence_offsets[places.documents.ranges[:, 0]]
    return {"documents": places.first_document + np.searchsorted(begins, places.token, side="right") - 1}


def pieces(places: Places) -> dict[str, np.ndarray]:
    """`piece_numbers`, int64 (N,): the piece of its example that a token is of, from 0; NO_TOKEN at special ones."""
    counts = places.index.example_pieces[places.chosen + 1] - places.index.example_pieces[places.chosen]
    number = concatenated_ranges(np.zeros_like(counts), counts)
    return {"piece_numbers": np.where(places.is_text, number[places.piece], NO_TOKEN)}


def units(places: Places) -> dict[str, np.ndarray]:
    """`unit_starts`, bool (N,): a named unit begins here; `unit_types`, uint8 (N,): 1 + the number of its type in
    `words.unit_types`, at every token of a unit. A unit that reaches over a piece's edge is cut there. Neither where
    the store has none.
    """
    if places.shard.units is None:
        return {}
    starts, types = np.zeros(len(places.piece), bool), np.zeros(len(places.piece), np.uint8)
    first, length, kinds = (np.asarray(column) for column in places.shard.units)
    _place_units(
        places.index.piece_start[places.pieces],
        places.index.piece_length[places.pieces],
        *places.around,
        first,
        length,
        kinds,
        starts,
        types,
    )
    return {"unit_starts": starts, "unit_types": types}


COLUMNS: dict[str, Callable[[Places], dict[str, np.ndarray]]] = {
    "words": lambda places: {},  # word_starts, which all examples have
    "units": units,
    "sentences": sentences,
    "documents": documents,
    "pieces": pieces,
}
"""By what is asked for."""


def columns_of(places: Places, needs: Iterable[str]) -> dict[str, np.ndarray]:
    """The columns of some examples."""
    return {name: column for need in sorted(needs) for name, column in COLUMNS[need](places).items()}


def concatenated_ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The numbers of [first[0], last[0]), then of [first[1], last[1]), and so on: int64."""
    size = last - first
    ends = np.cumsum(size)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - size - first, size)


@compiled
def _place_units(start, length, before, after, first, size, types_of, starts, types):
    at = 0
    for p in range(start.shape[0]):
        at += before[p]
        begin, end = start[p], start[p] + length[p]
        u = max(np.searchsorted(first, begin, side="right") - 1, 0)  # it may reach into the piece
        while u < first.shape[0] and first[u] < end:
            inner, outer = max(first[u], begin), min(first[u] + size[u], end)
            if inner < outer:
                starts[at + inner - begin] = True
                for t in range(inner, outer):
                    types[at + t - begin] = types_of[u] + 1
            u += 1
        at += length[p] + after[p]
