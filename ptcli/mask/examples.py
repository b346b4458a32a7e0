"""What masks and noise are given and what they give back: flat arrays of examples, before rows are laid out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Examples:
    """A batch of examples, special tokens in place. Example e is positions [offsets[e], offsets[e + 1]).

    `columns`: what parts ask for by `needs` (ptcli/batch/columns.py makes them), (N,) each, read as examples["name"].
    """

    tokens: np.ndarray  # int32 (N,)
    offsets: np.ndarray  # int64 (E + 1,)
    maskable: np.ndarray  # bool (N,): ordinary tokens; false at specials. A unit never crosses a false position
    word_starts: np.ndarray  # bool (N,): the token begins a word; true at the first token of every piece
    keys: np.ndarray  # uint64 (E,): identity of each example
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def with_columns(self, **columns: np.ndarray) -> "Examples":
        """The same examples with further columns, (N,) each."""
        return replace(self, columns={**self.columns, **columns})

    def without(self, removed: np.ndarray) -> "Examples":
        """The examples without some of their positions, bool (N,): every column loses them."""
        kept = ~removed
        before = np.concatenate([[0], np.cumsum(kept)])
        return Examples(
            tokens=self.tokens[kept],
            offsets=before[self.offsets],
            maskable=self.maskable[kept],
            word_starts=self.word_starts[kept],
            keys=self.keys,
            columns={name: column[kept] for name, column in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Masked:
    """The corrupted input and what is scored."""

    input_ids: np.ndarray  # int32 (N,)
    labels: np.ndarray  # int32 (N,): the original id at selected positions, IGNORE_INDEX elsewhere
    kinds: np.ndarray  # uint8 (N,): NOT_SELECTED, MASKED, RANDOM, KEPT or PERMUTED
    units: np.ndarray  # bool (N,): a unit of the strategy begins here (token, word, span)


class TokenArrays(Protocol):
    """A shard of the training text, for masks that learn from the whole of it."""

    tokens: Any  # uint16 or uint32 (T,)
    word_starts: Any  # uint8, one bit a token, little bit order


NEEDS = ("words", "units", "sentences", "documents", "pieces")
"""The columns that masks and noises may ask for."""

NOT_SELECTED, MASKED, RANDOM, KEPT, PERMUTED = 0, 1, 2, 3, 4
