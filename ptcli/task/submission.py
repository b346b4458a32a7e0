"""Answers in the form that a task's benchmark takes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptcli.errors import ConfigError, DataError
from ptcli.task.rows import Row

_JSON_LINES = {"clue/clue": "id", "aps/super_glue": "idx"}
"""Benchmarks that take {"id": ..., "label": ...} a line, by their name on the hub: what the row is called there."""
_BY_PROBABILITY = ("roc_auc", "average_precision")


class Submission:
    """Lines of text for the answers of a task's rows, given some at a time.

    class, value, choice: `index<TAB>prediction` below a line with these names (GLUE, arXiv:1804.07461); objects with
    the row's name and its label, for CLUE and SuperGLUE; where the best metric looks at probabilities, that of the
    second label, a line a row. span: one object of answers by the row's name (SQuAD). tokens: a word and its tag a
    line, sentences parted by a blank one (CoNLL).

    Raises ConfigError for tasks of no benchmark's form: several labels a row, and ranking.
    """

    def __init__(self, task: Any, *, labels: Sequence[str]):
        if task.target in ("classes", "rank"):
            raise ConfigError(
                "format=submission: no benchmark's form is known for this kind of task. Use format=jsonl, csv or tsv."
            )
        self._task, self._labels = task, labels
        self._named = _JSON_LINES.get(task.source.name or "")
        self._number = 0

    def begin(self) -> list[str]:
        """The lines before the first answer."""
        if self._task.target == "span":
            return ["{"]
        return ["index\tprediction"] if self._is_table() else []

    def lines(self, rows: Sequence[Row], answers: Sequence[Mapping[str, Any]]) -> list[str]:
        """The lines of the next rows. Raises DataError where a row has no name and one is needed."""
        return [line for row, answer in zip(rows, answers, strict=True) for line in self._lines(row, answer)]

    def end(self) -> list[str]:
        """The lines behind the last answer."""
        return ["}"] if self._task.target == "span" else []

    def _lines(self, row: Row, answer: Mapping[str, Any]) -> Iterator[str]:
        target = self._task.target
        if target == "tokens":
            yield from [""] if self._number else []
            yield from (f"{word}\t{tag}" for word, tag in zip(row.words, answer["tags"], strict=True))
        elif target == "span":
            comma = "," if self._number else ""
            yield f"{comma}{json.dumps(_name(row))}: {json.dumps(answer['answer'], ensure_ascii=False)}"
        elif self._is_probability():
            yield repr(answer["probabilities"][self._labels[1]])
        elif self._named:
            yield json.dumps({self._named: _number(_name(row)), "label": self._answer(answer)}, ensure_ascii=False)
        else:
            yield f"{row.index}\t{self._answer(answer)}"
        self._number += 1

    def _answer(self, answer: Mapping[str, Any]) -> Any:
        return answer[{"class": "label", "value": "value", "choice": "choice"}[self._task.target]]

    def _is_probability(self) -> bool:
        is_judged = self._task.best_metric in _BY_PROBABILITY
        return self._task.target == "class" and is_judged and len(self._labels) == 2

    def _is_table(self) -> bool:
        return self._task.target in ("class", "value", "choice") and not self._named and not self._is_probability()


def _name(row: Row) -> str:
    if row.id is None:
        raise DataError(f"{row.source} has no name for its answer to stand under. Name the column: task.id=COLUMN")
    return row.id


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() else name
