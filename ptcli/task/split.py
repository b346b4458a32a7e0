"""Training and held-out rows of one set: by whole groups, so that no text is on both sides."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ptcli.errors import DataError
from ptcli.randomness import key_of
from ptcli.task.rows import Row


class Grouping(Protocol):
    """What a split asks of a task."""

    def group_of(self, row: Row) -> str:
        """Rows of one group stay together."""
        ...


def split_off(task: Grouping, rows: Sequence[Row], *, fraction: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Training rows and held-out ones, both in their order: a `fraction` of the rows, to the nearest whole group.

    Raises DataError where one side would be empty.
    """
    groups = _groups(task, rows, seed)
    sizes = np.cumsum([len(group) for group in groups])
    # the number of groups whose rows come nearest to the fraction, at least one
    number = 1 + int(np.abs(sizes - fraction * len(rows)).argmin()) if len(groups) else 0
    if len(groups) < 2:
        raise DataError(
            f"no rows can be held out for validation: all {len(rows):,} are of one group (the same texts, or the same "
            "task.group). Give a validation split: task.splits={train: FILE, validation: FILE}"
        )
    number = min(number, len(groups) - 1)
    held_out = {place for group in groups[:number] for place in group}
    return (
        [row for place, row in enumerate(rows) if place not in held_out],
        [row for place, row in enumerate(rows) if place in held_out],
    )


def folds(task: Grouping, rows: Sequence[Row], *, number: int, seed: int) -> np.ndarray:
    """The fold of each row, int64 (R,) in [0, number): whole groups, folds of nearly the same size.

    Raises DataError where there are fewer groups than folds.
    """
    groups = _groups(task, rows, seed)
    if len(groups) < number:
        raise DataError(
            f"{len(rows):,} rows make {len(groups):,} groups, too few for {number} folds. Ask for fewer folds."
        )
    fold_of = np.empty(len(rows), np.int64)
    sizes = np.zeros(number, np.int64)
    for group in groups:  # each goes to the smallest fold
        fold = int(sizes.argmin())
        fold_of[group] = fold
        sizes[fold] += len(group)
    return fold_of


def _groups(task: Grouping, rows: Sequence[Row], seed: int) -> list[list[int]]:
    """The places of the rows of each group, groups in an order that their names and the seed alone decide."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(task.group_of(row), []).append(place)
    return [places[name] for name in sorted(places, key=lambda name: (int(key_of(seed, "task.split", name)), name))]
