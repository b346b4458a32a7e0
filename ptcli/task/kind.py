"""What all kinds of tasks share: from a table's records to rows, and the labels of all splits in one order."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError, DataError
from ptcli.task.encoded import Encoded
from ptcli.task.metrics.score import Metric, Score, chosen, measure
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import MISSING, Record, column_names, told
from ptcli.task.reading.source import Source
from ptcli.task.rows import Row
from ptcli.task.settings import Column, ModelSettings, TaskSettings
from ptcli.tokenizer.tokenizer import Tokenizer

_NAMED = 5  # rows that a message names
_HUB_SPLITS = {"train": "train", "validation": "validation", "test": "test"}


class Kind(ABC):
    """A kind of task, and a task of it: where its rows are, which columns they have, and what they are worth.

    Args:
        path, name, subset, revision, format, splits, hub_splits, delimiter, quote, header, encoding, where,
            skip_bad_rows: as in ptcli.task.reading.source.Source.
        text, label, id, group: columns (ptcli.task.settings.Column). The rows of a group stay together in splits.
        labels: all labels, in order; None: those of all splits, sorted.
        label_names: what each of `labels` is called in predictions; data may have these, too. None: as the labels.
        metrics: names of the kind's METRICS, in ptcli.task.metrics; [] for the kind's own choice.
        best_metric: the one that says which weights are best; None: the first.
        head, pooling, ...: ptcli.task.settings.ModelSettings, kept in `on_model`.
        validation_fraction: share of the training rows, in (0, 1), that is split off where no validation split is.
    """

    num_texts: int | str = 1  # 1, 2, or "choices"
    target: str = ""  # what is predicted: see ptcli.task.rows.Row
    has_labels = False  # whether labels have names
    is_task = True
    apart = False  # whether the texts of a pair are encoded apart
    metrics_of_kind: Mapping[str, Metric] = {}
    usual_metrics: tuple[str, ...] = ()

    def __init__(self, **settings: Unpack[TaskSettings]):
        given: dict[str, Any] = dict(settings)
        self.text: Column = given.pop("text", "text")
        self.label: Column = given.pop("label", "label")
        self.id: Column = given.pop("id", None)
        self.group: Column = given.pop("group", None)
        labels, names = given.pop("labels", None), given.pop("label_names", None)
        self.labels = None if labels is None else tuple(str(label) for label in labels)
        self.label_names = None if names is None else tuple(str(name) for name in names)
        self.metrics = tuple(given.pop("metrics", None) or self.usual_metrics)
        self.best_metric: str = given.pop("best_metric", None) or (self.metrics[0] if self.metrics else "")
        self.validation_fraction: float = given.pop("validation_fraction", 0.1)
        self.on_model = {key: given.pop(key) for key in ModelSettings.__annotations__ if key in given}
        hub_splits = given.pop("hub_splits", None) or _HUB_SPLITS
        self.source = Source(hub_splits=hub_splits, **given)
        self._remarks: list[str] = []
        self.settled: dict[str, float] = {}  # what `settle` has chosen; it is kept with the model

    def check(self) -> None:
        """Raise ConfigError where a setting is out of its range or nothing can be read."""
        if not 0 < self.validation_fraction < 1:
            raise ConfigError(f"task.validation_fraction={self.validation_fraction} must lie in (0, 1), such as 0.1.")
        if self.label_names is not None and (self.labels is None or len(self.label_names) != len(self.labels)):
            given = "no labels" if self.labels is None else f"{len(self.labels)} labels"
            raise ConfigError(
                f"task.label_names has {len(self.label_names)} names for {given}. Give task.labels in the same order."
            )
        if self.labels is not None and len(set(self.labels)) < len(self.labels):
            raise ConfigError(f"task.labels={list(self.labels)} names a label twice.")
        if not self.has_labels and self.labels is not None:
            raise ConfigError("task.labels does nothing in a task whose answers are no classes. Leave it out.")
        chosen(self.metrics_of_kind, self.metrics)
        if self.best_metric not in self.metrics:
            names = ", ".join(self.metrics)
            raise ConfigError(
                f"task.best_metric={self.best_metric} is not measured. Choose from task.metrics: {names}."
            )
        self.source.check()

    # rows

    @property
    def splits(self) -> list[str]:
        """Names of the splits that there are; those that begin with "validation" are evaluated on."""
        return self.source.splits()

    def read(self, split: str, *, labelled: bool | None = None) -> list[Row]:
        """The rows of a split. `labelled`: each must have a label; None: unless the split's name begins with "test".

        Raises DataError that names rows without a label, and rows that cannot be used (task.skip_bad_rows).
        """
        if split not in self.splits:
            raise ConfigError(f"the task has no {split} split, only {', '.join(self.splits)}. Choose one of these.")
        wanted = not split.startswith("test") if labelled is None else labelled
        self._begin()
        rows = list(self._rows(self.source.records(split, names=self._names())))
        if wanted and self.source.bad.skip:
            rows = [row for row in rows if self._is_labelled(row)]
        without = [row.source for row in rows if row.label is None] if wanted else []
        if without:
            more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
            raise DataError(
                f"{len(without):,} rows of the {split} split have no label, because the column {told(self.label)} is "
                f"absent or empty there: {', '.join(without[:_NAMED])}{more}. Name the column, task.label=COLUMN, or "
                "label the rows."
            )
        if not rows:
            raise DataError(f"the {split} split has no rows. " + " ".join(self.remarks()))
        return rows

    def read_file(self, path: str | Path) -> Iterator[Row]:
        """The rows of any file with the task's columns, one after the other, in order; labels may be absent."""
        self._begin()
        yield from self._rows(self.source.records_of(path, names=self._names()))

    def remarks(self) -> list[str]:
        """What was left out, moved or replaced in what was read last."""
        return [*self.source.remarks(), *self._remarks]

    def group_of(self, row: Row) -> str:
        """Rows of one group are never on two sides of a split: by default those of the same texts, in any order."""
        return row.group if row.group is not None else "\x1f".join(sorted((*row.texts, *row.choices, *row.words)))

    def collect_labels(self, splits: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
        """All labels, in the order of their numbers: as `labels` gives them, else sorted, whole numbers by size.

        Raises DataError where a row has a label that `labels` lacks, or where there are fewer than two.
        """
        if not self.has_labels:
            return ()
        found: dict[str, list[str]] = {}
        for rows in splits.values():
            for row in rows:
                for label in self.labels_of(row):
                    found.setdefault(label, []).append(row.source)
        if self.labels is None:
            if len(found) < 2 and self.target == "class":
                raise DataError(
                    f"the rows have {len(found)} different labels ({', '.join(found)}): there is nothing to learn. Is "
                    f"{told(self.label)} the column of the labels? Name it: task.label=COLUMN."
                )
            return tuple(sorted(found, key=_by_number))
        unknown = {label: places for label, places in found.items() if label not in self.labels}
        if unknown:
            told_labels = "; ".join(
                f"{label!r} ({len(places):,} rows: {', '.join([*places[:_NAMED], *['...'] * (len(places) > _NAMED)])})"
                for label, places in list(unknown.items())[:_NAMED]
            )
            raise DataError(
                f"labels that task.labels={list(self.labels)} lacks: {told_labels}. Add them, or mend the rows."
            )
        return self.labels

    def names_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        """What the labels are called in predictions."""
        return tuple(labels) if self.label_names is None else self.label_names

    def labels_of(self, row: Row) -> tuple[str, ...]:
        """The names in a row's label; () where it has none, or is no name."""
        if row.label is None or not self.has_labels:
            return ()
        return (row.label,) if isinstance(row.label, str) else tuple(row.label)

    def versions(self, rows: Sequence[Row]) -> list[Sequence[Row]]:
        """The rows, and other ways to put them of which training draws one in each epoch."""
        return [rows]

    # to tokens, and back

    @abstractmethod
    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """The rows as tokens, examples of at most `max_length`. Labels are numbered by their places in `labels`.

        Raises ConfigError where max_length leaves no room for a token of text.
        """

    @abstractmethod
    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """A prediction for each row, of what the objective predicts for the examples."""

    @property
    def is_to_settle(self) -> bool:
        """Whether `settle` has something to choose: it costs the answers to all validation rows."""
        return False

    def settle(self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row]) -> list[str]:
        """Choose, by the validation rows, what is left to them (`settled`); what it is, a line each."""
        return []

    @abstractmethod
    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        """Truth and predictions of the labelled rows, of which metrics are functions."""

    def score(
        self,
        predictions: Sequence[Mapping[str, Any]],
        rows: Sequence[Row],
        *,
        labels: Sequence[str] = (),
        resamples: int = 0,
    ) -> dict[str, Score]:
        """The task's metrics over the labelled rows, with bootstrap intervals where `resamples` is not 0.

        Rows of one group, where a column names it, are drawn together.
        """
        outcomes = self.outcomes(predictions, rows, labels=labels)
        return measure(
            outcomes,
            chosen(self.metrics_of_kind, self.metrics),
            groups=None if self.group is None else self.groups_of([row for row in rows if row.label is not None]),
            resamples=resamples,
        )

    def groups_of(self, rows: Sequence[Row]) -> np.ndarray | None:
        """A number for each row, the same within a group: int64 (R,); None where groups themselves are measured."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(self.group_of(row), len(numbers)) for row in rows], np.int64)

    # records

    def columns(self) -> list[Column]:
        """The columns that are looked for in a header."""
        return [self.text, self.label, self.id, self.group]

    @abstractmethod
    def texts_of(self, record: Record) -> dict[str, Any]:
        """`texts`, `words` or `choices` of a Row. Raises UnusableError where they are no texts."""

    @abstractmethod
    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> Any:
        """A Row's label from the value in its column, which is not None. Raises UnusableError where it is none."""

    def canonical(self, value: Any) -> str:
        """The label that a value is: as text, and a name of `label_names` as the label itself."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        label = str(value).lower() if isinstance(value, bool) else str(value).strip()
        if self.labels is not None and self.label_names is not None and label not in self.labels:
            label = dict(zip(self.label_names, self.labels, strict=True)).get(label, label)
        return label

    def text_at(self, record: Record, column: Column, key: str) -> str:
        """The text in a column; a list of texts with spaces between. Raises DataError where there is no such column."""
        value = record.find(column)
        if value is MISSING:
            has = ", ".join(record.values) if record.named else f"{len(record.values)} columns without names, from 0 on"
            raise DataError(f"{record.source} has no column {told(column)}; there: {has}. Name it: task.{key}=COLUMN")
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if value is None:
            raise UnusableError(f"has no text in {told(column)}")
        if isinstance(value, dict | list):
            raise UnusableError(f"has no text but {str(value)[:40]} in {told(column)}")
        return str(value)

    def _names(self) -> set[str]:
        return column_names(self.columns())

    def _begin(self) -> None:
        self._remarks = []

    def _rows(self, records: Iterator[Record]) -> Iterator[Row]:
        index = 0
        for record in records:
            try:
                row = self._row(record, index)
            except UnusableError as reason:
                self.source.bad.add(record.source, str(reason))
                continue
            index += 1
            yield row

    def _is_labelled(self, row: Row) -> bool:
        """Whether a row's label is known, such as not the "-" on which annotators disagreed; else it is a bad row."""
        unknown = []
        if self.has_labels and self.labels is not None:
            unknown = [label for label in self.labels_of(row) if label not in self.labels]
        if row.label is None or unknown:
            reason = f"has the label {unknown[0]!r}, which task.labels lacks" if unknown else "has no label"
            self.source.bad.add(row.source, reason)
        return row.label is not None and not unknown

    def _row(self, record: Record, index: int) -> Row:
        row = self.texts_of(record)
        value = record.find(self.label) if self.label is not None else MISSING
        absent = value is MISSING or value is None or (isinstance(value, str) and not value.strip())
        label = None if absent else self.label_of(value, record, row)
        group = _name(record.find(self.group))
        row |= {"group": row.get("group") if group is None else group, "id": _name(record.find(self.id))}
        return Row(index=index, label=label, source=record.source, **row)


def _name(value: Any) -> str | None:
    return None if value is MISSING or value is None else str(value)


def _by_number(label: str) -> tuple[int, int, str]:
    whole = label.removeprefix("-").isascii() and label.removeprefix("-").isdigit()
    return (0, int(label), label) if whole else (1, 0, label)
