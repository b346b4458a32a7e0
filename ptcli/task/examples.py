"""Examples of one or two pieces of tokens, put together with the tokenizer's special tokens: flat arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import Encoded
from ptcli.tokenizer.vocabulary import Layout

Pieces = Sequence[np.ndarray]
"""The tokens of an example, one or two pieces: int32 (n,) each."""


def room_for(num_pieces: int, layout: Layout, max_length: int) -> int:
    """Tokens of text that an example of so many pieces can hold. Raises ConfigError where that is not even one each."""
    room = max_length - layout.num_special(num_pieces)
    if room < num_pieces:
        raise ConfigError(
            f"max_length={max_length} leaves no room for text: {layout.num_special(num_pieces)} tokens of an example "
            f"are special ones. Write max_length={layout.num_special(num_pieces) + num_pieces} or more."
        )
    return room


def cut_longest_first(lengths: Sequence[int], room: int) -> list[int]:
    """The lengths after tokens were taken from the end of the longer piece, one by one, until all fit in `room`.

    Of two equal pieces the second is cut (BERT, arXiv:1810.04805).
    """
    if sum(lengths) <= room:
        return list(lengths)
    if len(lengths) == 1:
        return [room]
    first, second = lengths
    half = room // 2
    if first <= room - half:
        return [first, room - first]
    return [room - second, second] if second <= half else [room - half, half]


def put_together(
    examples: Sequence[Pieces], *, rows: np.ndarray, layout: Layout, num_truncated: int = 0, **arrays: Any
) -> Encoded:
    """The examples as Encoded: `rows` int64 (E,), the row of each; `arrays`: what the kind adds.

    Segment ids follow the piece before a special token; the prefix takes the first piece's.
    """
    prefix, between, suffix = (np.array(ids, np.int32) for ids in (layout.prefix, layout.between, layout.suffix))
    tokens: list[np.ndarray] = []
    segments: list[np.ndarray] = []
    lengths = np.empty(len(examples), np.int64)
    for number, pieces in enumerate(examples):
        parts = [prefix, pieces[0]]
        for piece in pieces[1:]:
            parts += [between, piece]
        parts.append(suffix)
        length = sum(map(len, parts))
        segment = np.zeros(length, np.uint8)
        if len(pieces) == 2:
            segment[len(prefix) + len(pieces[0]) + len(between) :] = 1
        tokens += parts
        segments.append(segment)
        lengths[number] = length
    return Encoded(
        tokens=np.concatenate(tokens) if tokens else np.zeros(0, np.int32),
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        segments=np.concatenate(segments) if segments else np.zeros(0, np.uint8),
        row_of_example=np.asarray(rows, np.int64),
        classify_last=layout.classify_last,
        num_truncated=num_truncated,
        **arrays,
    )


def begins_of(pieces: Pieces, layout: Layout) -> list[int]:
    """Where each piece begins, counted from the example's beginning."""
    first = len(layout.prefix)
    return [first, first + len(pieces[0]) + len(layout.between)][: len(pieces)]


def length_of(pieces: Pieces, layout: Layout) -> int:
    """Tokens of an example, special ones included."""
    return sum(map(len, pieces)) + layout.num_special(len(pieces))
