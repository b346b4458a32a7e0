"""Optimiser steps of a task: its examples in a seeded order, short ones several a row, from any position."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from ptcli.batch.groups import LengthGroups
from ptcli.batch.loader import Step, position_of
from ptcli.batch.task_rows import Examples, Laid, lay_out, num_scored
from ptcli.batch.tensors import to_tensors
from ptcli.errors import ConfigError, DataError
from ptcli.packing.best_fit import best_fit
from ptcli.randomness import draws, key_of, permute
from ptcli.task.encoded import Encoded
from ptcli.tokenizer.vocabulary import Vocabulary

_LENGTH_STEP = 8  # padded lengths are multiples of this: fewer shapes, aligned rows


class Visits:
    """The order in which an epoch visits the questions, of which most have one example; `num_rows` of them."""

    def __init__(self, examples: Examples, *, key: np.uint64, version_key: np.uint64, group_size: int | None):
        self.num_rows = examples.num_questions
        self._key, self._version_key, self._num_versions = key, version_key, examples.num_versions
        self.groups = None
        if group_size is not None:
            self.groups = LengthGroups(num_rows=self.num_rows, size=group_size, key=key, lengths_of=examples.longest_of)

    def at(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """The questions at places [first, last), and which version of each is shown: int64 (n,) each."""
        if self.groups is not None:
            questions = self.groups.rows(first, last)
        else:
            questions = permute(np.arange(first, last, dtype=np.int64), self.num_rows, self._key)
        return questions, (draws(self._version_key, questions) % np.uint64(self._num_versions)).astype(np.int64)


class TaskLoader:
    """Feeds a trainer with the examples of a task: an epoch visits each question once, in an order of its own.

    A question is what `Encoded.question_numbers` holds together, mostly one example. A step has `batch_size` of them,
    over all ranks, a micro-batch `micro_size` on each; none holds questions of two epochs, so a step that crosses an
    epoch's end may have one more. How examples share rows changes neither which of them a step has nor, in exact
    arithmetic, its gradient.

    Args:
        encoded: the examples, in each of the ways in which the rows are put (`Task.versions`): an epoch draws one way
            for each question.
        isolates: whether the model keeps the examples of a row apart. Only then are several put in one, and only
            without `group_by_length`.
        longest_row: positions that the model can take; None: any number.
        max_length: positions of a row.
        group_by_length: questions of like length come together, so that little is padding.
        group_size: questions of a group; None: `micro_size`.
        static_length: every row has max_length positions, for CUDA; otherwise as many as the longest needs.
        whole_epochs: an epoch is `epoch_steps` steps of nearly one size, at most batch_size; none crosses its end.
        rank, ranks: each rank is given its own part of a step's questions; together they are the same at any number.
    """

    rows_of = "an epoch"

    def __init__(
        self,
        encoded: Sequence[Encoded],
        *,
        isolates: bool,
        longest_row: int | None,
        vocabulary: Vocabulary,
        max_length: int,
        batch_size: int,
        micro_size: int,
        seed: int,
        group_by_length: bool = False,
        group_size: int | None = None,
        static_length: bool = False,
        whole_epochs: bool = False,
        rank: int = 0,
        ranks: int = 1,
    ):
        assert 0 <= rank < ranks and batch_size % ranks == 0
        if longest_row is not None and max_length > longest_row:
            raise ConfigError(
                f"max_length={max_length}: the model takes rows of {longest_row} positions, examples may be longer. "
                f"Use max_length={longest_row}, or a model that takes longer rows."
            )
        self.batch_size, self.micro_size = batch_size, micro_size
        self._examples = Examples(encoded)
        self._pad, self._max_length, self._seed = vocabulary.pad_token_id, max_length, seed
        self._packed = isolates and not group_by_length
        self._group_size = (group_size or micro_size) if group_by_length else None
        self._static_length, self._whole_epochs = static_length, whole_epochs
        assert ranks == 1 or not whole_epochs, "steps of several sizes are not divided"
        self._share = batch_size // ranks
        self._before, self._after = rank * self._share, (ranks - 1 - rank) * self._share
        if self._examples.num_questions == 0:
            raise DataError("the task has no example. Give it rows.")
        assert int(self._examples.lengths.max()) <= max_length, "encoded for a longer max_length"

    @property
    def epoch_steps(self) -> int:
        """Steps in which an epoch is visited, rounded up."""
        return -(-self._examples.num_questions // self.batch_size)

    def epoch(self, number: int) -> Visits:
        """The visits of epoch `number`."""
        return Visits(
            self._examples,
            key=key_of(self._seed, "task.order", number),
            version_key=key_of(self._seed, "task.version", number),
            group_size=self._group_size,
        )

    def steps(self, position: dict[str, Any] | None = None, first_step: int = 0) -> Iterator[Step]:
        """Steps for ever, from a data state on. They do not depend on the step's number."""
        epoch, row, total = position_of(position)
        visits = self.epoch(epoch)
        while True:
            micro_batches: list[dict[str, Tensor]] = []
            counts: dict[str, int] = dict.fromkeys(("examples", "tokens", "scored", "positions"), 0)
            share = self._size_at(row) if self._whole_epochs else self._share
            for wanted, own in ((self._before, False), (share, True), (self._after, False)):
                while wanted:
                    size = min(wanted, visits.num_rows - row)
                    if own:
                        size = min(size, self.micro_size)
                        size = min(size, visits.groups.left(row)) if visits.groups else size
                        laid = self._lay_out(
                            *visits.at(row, row + size), key=key_of(self._seed, "task.row", epoch, row)
                        )
                        _count(counts, laid)
                        micro_batches.append(to_tensors(laid.arrays))
                    wanted, row = wanted - size, row + size
                    if row == visits.num_rows:
                        epoch, row = epoch + 1, 0
                        visits = self.epoch(epoch)
            total += self._before + share + self._after
            measured = {"fill": counts["tokens"] / counts["positions"], "epoch": epoch + row / visits.num_rows}
            yield Step(micro_batches, counts, {"epoch": epoch, "row": row, "rows": total}, measured)

    def once(self) -> Iterator[dict[str, Tensor]]:
        """Micro-batches of all questions as the rows have them, once, in the order of their first examples."""
        for first in range(0, self._examples.num_questions, self.micro_size):
            questions = np.arange(first, min(first + self.micro_size, self._examples.num_questions))
            laid = self._lay_out(questions, np.zeros_like(questions), key=key_of(0, "task.row", first))
            yield to_tensors(laid.arrays)

    def examples(self, position: dict[str, Any] | None) -> str:
        """The rows of the optimiser step behind a data state, in words."""
        epoch, first, _ = position_of(position)
        visits = self.epoch(epoch)
        size = self._size_at(first) if self._whole_epochs else self.batch_size
        questions, _ = visits.at(first, min(first + size, visits.num_rows))
        rows = [f"{row:,}" for row in self._examples.rows_of(questions)]
        more = f" and {len(rows) - 20:,} more" if len(rows) > 20 else ""
        return f"training rows {', '.join(rows[:20])}{more}"

    def begin_anew(self, position: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """The data state that begins the epoch after a position's, and the passes over the data that it counts."""
        epoch = position["epoch"] + 1
        return {**position, "epoch": epoch, "row": 0}, float(epoch)

    def _size_at(self, row: int) -> int:
        """Questions of the step that begins at a row, where an epoch is divided into steps of nearly one size."""
        number, steps = self._examples.num_questions, self.epoch_steps
        return -(-(row + 1) * steps // number) * number // steps - row

    def _lay_out(self, questions: np.ndarray, versions: np.ndarray, *, key: np.uint64) -> Laid:
        numbers = self._examples.of(questions, versions)
        lengths = self._examples.lengths[numbers]
        if self._packed:
            order, row_examples = self._packed_rows(lengths, key)
        else:
            order, row_examples = np.arange(len(numbers)), np.arange(len(numbers) + 1)
        return lay_out(
            self._examples,
            numbers,
            order=order,
            row_examples=row_examples,
            pad_token_id=self._pad,
            length=self._max_length if self._static_length else None,
            length_step=_LENGTH_STEP,
            most=self._max_length,
        )

    def _packed_rows(self, lengths: np.ndarray, key: np.uint64) -> tuple[np.ndarray, np.ndarray]:
        """Examples by row, as best_fit gives them: as few rows as it can make, and those as short as they can be."""
        found = best_fit(lengths, capacity=self._max_length, key=key)
        num_rows = len(found[1]) - 1
        if self._static_length:
            return found
        least = max(int(lengths.max()), -(-int(lengths.sum()) // num_rows))
        for capacity in range(-(-least // _LENGTH_STEP) * _LENGTH_STEP, self._max_length, _LENGTH_STEP):
            shorter = best_fit(lengths, capacity=capacity, key=key)
            if len(shorter[1]) - 1 <= num_rows:
                return shorter
        return found


def _count(counts: dict[str, int], laid: Laid) -> None:
    counts["examples"] += laid.num_examples
    counts["tokens"] += laid.num_tokens
    counts["scored"] += num_scored(laid.arrays)
    counts["positions"] += laid.arrays["input_ids"].size
