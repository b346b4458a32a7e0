"""The right one of several ways to go on."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.task.encoded import IGNORE_INDEX, Encoded
from ptcli.task.examples import cut_longest_first, put_together, room_for
from ptcli.task.metrics import multiple_choice as metrics
from ptcli.task.probabilities import softmax
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.task import Task
from ptcli.tokenizer.tokenizer import Tokenizer

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class MultipleChoice(Task):
    """Each row has several choices, of which one is right: an example each, text and question + choice.

    Settings are Task's, and:

    Args:
        question: the column of a question on the text, put before each choice; None: there is none.
        choices: the column of a list, or columns of one choice each; rows may have different numbers of them.
        first_label: the number that the first choice has as a label, 0 or 1. A letter (A, B), the text of the right
            choice and the name of its column are labels, too.
    """

    num_texts = "choices"
    target = "choice"
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("accuracy",)

    def __init__(
        self,
        *,
        question: Column = None,
        choices: str | Sequence[str] = "choices",
        first_label: int = 0,
        **settings: Unpack[TaskSettings],
    ):
        super().__init__(**settings)
        self.question, self.first_label = question, first_label
        self.choices = (choices,) if isinstance(choices, str) else tuple(choices)

    def columns(self) -> list[Column]:
        """Those of question and choices, too."""
        return [*super().columns(), self.question, *self.choices]

    def group_of(self, row: Row) -> str:
        """The questions on one text stay together."""
        return row.group if row.group is not None else row.texts[0]

    def texts_of(self, record: Record) -> dict[str, Any]:
        """The text, the question where there is one, and the choices."""
        texts = [self.text_at(record, self.text, "text")]
        if self.question is not None:
            texts.append(self.text_at(record, self.question, "question"))
        return {"texts": tuple(texts), "choices": self._choices(record)}

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> int:
        """Which choice is right, from 0."""
        choices, label = row["choices"], self.names.canonical(value)
        if label in choices and choices.count(label) == 1:
            return choices.index(label)
        if len(self.choices) > 1 and label in self.choices:
            return self.choices.index(label)
        if len(label) == 1 and label in _LETTERS[: len(choices)]:
            return _LETTERS.index(label)
        if label.isascii() and label.isdigit() and 0 <= int(label) - self.first_label < len(choices):
            return int(label) - self.first_label
        raise UnusableError(f"has {label[:40]!r} as its label, which is none of its {len(choices)} choices")

    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """An example a choice; what is too long is cut at the end of the longer piece."""
        layout = tokenizer.vocabulary.layout
        room = room_for(2, layout, max_length)
        row_of = np.repeat(np.arange(len(rows)), [len(row.choices) for row in rows])
        contexts = [each[0] for each in tokenizer.encode([row.texts[0] for row in rows])]
        ways = [" ".join((*row.texts[1:], choice)) for row in rows for choice in row.choices]
        examples: list[list[np.ndarray]] = []
        cut = np.zeros(len(rows), bool)
        for place, (way, _, _) in zip(row_of.tolist(), tokenizer.encode(ways), strict=True):
            context = contexts[place]
            first, second = cut_longest_first([len(context), len(way)], room)
            cut[place] |= first + second < len(context) + len(way)
            examples.append([context[:first], way[:second]])
        right = np.array([-1 if row.label is None else row.label for row in rows], np.int64)
        number = np.concatenate([np.arange(len(row.choices)) for row in rows]) if rows else np.zeros(0, np.int64)
        targets = np.where(right[row_of] < 0, IGNORE_INDEX, number == right[row_of]).astype(np.int64)
        return put_together(
            examples,
            rows=row_of,
            layout=layout,
            num_truncated=int(cut.sum()),
            example_labels=targets,
            question_numbers=row_of,
        )

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`choice` (from 0), its `text`, and the `probabilities` of all choices, of `scores` (E,), one a choice."""
        bounds = np.searchsorted(encoded.row_of_example, np.arange(len(rows) + 1))
        predictions: list[dict[str, Any]] = []
        for row, begin, end in zip(rows, bounds[:-1], bounds[1:], strict=True):
            assert end - begin == len(row.choices), f"{end - begin} examples for {len(row.choices)} choices"
            probabilities = softmax(outputs["scores"][begin:end])
            choice = int(probabilities.argmax())
            predictions.append({"choice": choice, "text": row.choices[choice], "probabilities": probabilities.tolist()})
        return predictions

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows)

    def _choices(self, record: Record) -> tuple[str, ...]:
        first, *others = self.choices
        if others:
            found = [self.text_at(record, column, "choices") for column in self.choices]
        else:
            way_out = "Name it, or the columns of one choice each: task.choices=[choice1,choice2]"
            value = self.value_at(record, first, "choices", way_out=way_out)
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise UnusableError(f"has no list of choices but {str(value)[:40]}")
            found = value
        if len(found) < 2:
            raise UnusableError(f"has {len(found)} choices, where two are the least")
        return tuple(found)
