"""Kinds whose rows are one text or two, and whose label is the whole row's."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import Encoded
from ptcli.task.examples import cut_longest_first, put_together, room_for
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.task import Task
from ptcli.tokenizer.tokenizer import Tokenizer


class TextTask(Task):
    """`pair`: the column of the second text; None: there is one text.

    `apart`: the two texts are examples of their own, one after the other, brought together behind the model. Else they
    are the two pieces of one, the longer cut first. `swap_pairs`: in each epoch training sees each row as it is or with
    its texts swapped, by even chances: for tasks in which their order means nothing.
    """

    def __init__(
        self,
        *,
        pair: Column = None,
        apart: bool = False,
        swap_pairs: bool = False,
        **settings: Unpack[TaskSettings],
    ):
        super().__init__(**settings)
        self.pair, self.apart, self.swap_pairs = pair, apart, swap_pairs

    def check(self) -> None:
        """Raise ConfigError where a setting is out of its range or has no effect, or nothing can be read."""
        super().check()
        for key, wanted in (("apart", self.apart), ("swap_pairs", self.swap_pairs)):
            if wanted and self.pair is None:
                raise ConfigError(
                    f"task.{key}=true does nothing without a second text. Name its column: task.pair=COLUMN."
                )

    def columns(self) -> list[Column]:
        """The pair's column, too."""
        return [*super().columns(), self.pair]

    def texts_of(self, record: Record) -> dict[str, Any]:
        """One text or two."""
        texts = [self.text_at(record, self.text, "text")]
        if self.pair is not None:
            texts.append(self.text_at(record, self.pair, "pair"))
        return {"texts": tuple(texts)}

    def versions(self, rows: Sequence[Row]) -> list[Sequence[Row]]:
        """The rows, and with `swap_pairs` the same with their texts swapped."""
        return [rows, swapped(rows)] if self.swap_pairs else [rows]

    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """An example a row, or, where texts are encoded apart, one a text."""
        layout = tokenizer.vocabulary.layout
        number = len(rows[0].texts) if rows else 1
        pieces = 1 if self.apart else number
        room = room_for(pieces, layout, max_length)
        ids = [each[0] for each in tokenizer.encode([text for row in rows for text in row.texts])]
        grouped = [ids[i : i + pieces] for i in range(0, len(ids), pieces)]
        cut = [cut_longest_first([len(piece) for piece in example], room) for example in grouped]
        examples = [
            [piece[:length] for piece, length in zip(example, lengths, strict=True)]
            for example, lengths in zip(grouped, cut, strict=True)
        ]
        row_of = np.repeat(np.arange(len(rows)), number // pieces)
        shorter = np.array([sum(map(len, a)) > sum(map(len, b)) for a, b in zip(grouped, examples, strict=True)], bool)
        return put_together(
            examples,
            rows=row_of,
            layout=layout,
            num_truncated=len(np.unique(row_of[shorter])),
            example_labels=self.targets(rows, labels),  # one a row, also where a row is two examples
            question_numbers=row_of if self.apart else None,
        )

    @abstractmethod
    def targets(self, rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
        """The label of each row as `Encoded.example_labels` has it."""


def swapped(rows: Sequence[Row]) -> list[Row]:
    """The rows with their two texts in the other order."""
    return [replace(row, texts=row.texts[::-1]) for row in rows]
