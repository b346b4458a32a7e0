"""Rows as they are drawn: tokens as texts, with what each mask does to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ptcli.batch.contract import Column
from ptcli.mask.examples import KEPT, MASKED, NOT_SELECTED, PERMUTED, RANDOM, Examples, Masked

KINDS = {NOT_SELECTED: "", MASKED: "masked", RANDOM: "random", KEPT: "kept", PERMUTED: "permuted"}
"""What is done at a position, in words."""


@dataclass(frozen=True, slots=True)
class ShownMask:
    """One mask on one example. Lists have an entry for each of its tokens."""

    input_ids: list[int]  # what the model is fed
    shown: list[str]  # the same as texts
    kinds: list[str]  # values of KINDS; "" is not selected
    unit_starts: list[bool]  # a unit of the strategy (token, word, span) begins here


@dataclass(frozen=True, slots=True)
class ShownExample:
    """One example. Lists have an entry for each token; `masks` are by strategy, all on this same text."""

    ids: list[int]
    texts: list[str]
    special: list[bool]  # never selected
    word_starts: list[bool]
    segments: list[int]
    labels: dict[str, str]  # what else is asked about it, by the added column: a label, or how many positions
    masks: dict[str, ShownMask]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One row of a batch. `number` counts from 1 in the order of training."""

    number: int
    examples: list[ShownExample]

    @property
    def num_tokens(self) -> int:
        """Positions that hold a token."""
        return sum(len(example.ids) for example in self.examples)


def shown_rows(
    examples: Examples,
    masks: Mapping[str, Masked],
    *,
    added: Mapping[Column, np.ndarray],
    row_of_example: np.ndarray,
    text: Callable[[int], str],
    first_number: int = 1,
) -> Iterator[ShownRow]:
    """The rows of a batch of flat examples, which have the column `segments`. `row_of_example` (E,) as collated.

    `added`: the columns of the batch that parts add to it, before laying out.
    """
    for row in np.unique(row_of_example):
        found = [_example(examples, masks, added, text, int(e)) for e in np.flatnonzero(row_of_example == row)]
        yield ShownRow(first_number + int(row), found)


def is_permuted(rows: Iterable[ShownRow]) -> bool:
    """Whether any mask shows tokens in each other's places."""
    return any("permuted" in m.kinds for row in rows for example in row.examples for m in example.masks.values())


def printable(text: str) -> str:
    """The text without anything that would move a cursor or end a line; U+FFFD stands where something was."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def joins(example: ShownExample, place: int) -> bool:
    """Whether the token at `place` goes on with the word of the token before it."""
    return place > 0 and not (
        example.word_starts[place]
        or example.special[place]
        or example.special[place - 1]
        or example.segments[place] != example.segments[place - 1]
    )


def unit_goes_on(mask: ShownMask, place: int) -> bool:
    """Whether the token at `place` and the one before it are selected as parts of one unit."""
    return bool(place > 0 and mask.kinds[place] and mask.kinds[place - 1] and not mask.unit_starts[place])


def _example(
    examples: Examples,
    masks: Mapping[str, Masked],
    added: Mapping[Column, np.ndarray],
    text: Callable[[int], str],
    e: int,
) -> ShownExample:
    part = slice(int(examples.offsets[e]), int(examples.offsets[e + 1]))
    ids = examples.tokens[part].tolist()
    return ShownExample(
        ids=ids,
        texts=[text(i) for i in ids],
        special=(~examples.maskable[part]).tolist(),
        word_starts=np.asarray(examples.word_starts[part], bool).tolist(),
        segments=examples["segments"][part].tolist(),
        labels={
            column.name.removesuffix("_labels"): told
            for column, values in added.items()
            if (told := _label(column, values, e, part))
        },
        masks={
            name: ShownMask(
                input_ids=masked.input_ids[part].tolist(),
                shown=[text(i) for i in masked.input_ids[part].tolist()],
                kinds=[KINDS[kind] for kind in masked.kinds[part].tolist()],
                unit_starts=masked.units[part].tolist(),
            )
            for name, masked in masks.items()
        },
    )


def _label(column: Column, values: np.ndarray, e: int, part: slice) -> str:
    """What an added column says of an example; empty where it says nothing."""
    if column.kind == "example":
        value = int(values[e])
        return "" if value == column.fill else (column.names[value] if column.names else str(value))
    number = int((values[part] != column.fill).sum()) if column.kind == "token" else 0
    return f"{number} positions" if number else ""
