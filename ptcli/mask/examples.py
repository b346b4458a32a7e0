"""What a mask is given and what it gives back: flat arrays of a batch of examples, before rows are laid out."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Examples:
    """A batch of examples, special tokens in place. Example e is positions [offsets[e], offsets[e + 1])."""

    tokens: np.ndarray  # int32 (N,)
    offsets: np.ndarray  # int64 (E + 1,)
    maskable: np.ndarray  # bool (N,): ordinary tokens; false at specials. A unit never crosses a false position
    word_starts: np.ndarray  # bool (N,): the token begins a word; true at the first token of every piece
    keys: np.ndarray  # uint64 (E,): identity of each example
    # Named units (entity, phrase) of a words choice that makes them; None where the store has none.
    unit_starts: np.ndarray | None = None  # bool (N,): a named unit begins here
    unit_types: np.ndarray | None = None  # uint8 (N,): 1 + its number in `words.unit_types` at every token of a unit


@dataclass(frozen=True, slots=True)
class Masked:
    """The corrupted input and what is scored."""

    input_ids: np.ndarray  # int32 (N,)
    labels: np.ndarray  # int32 (N,): the original id at selected positions, IGNORE_INDEX elsewhere
    kinds: np.ndarray  # uint8 (N,): NOT_SELECTED, MASKED, RANDOM, KEPT or PERMUTED
    units: np.ndarray  # bool (N,): a unit of the strategy begins here (token, word, span)


NOT_SELECTED, MASKED, RANDOM, KEPT, PERMUTED = 0, 1, 2, 3, 4
