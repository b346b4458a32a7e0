"""From a table's records to the rows of a task: texts, labels and groups by the columns that hold them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptcli.errors import ConfigError, DataError
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import MISSING, Record, column_names, told
from ptcli.task.reading.source import Source
from ptcli.task.rows import Row
from ptcli.task.settings import Column

_SHOWN = 5  # rows that a message names


class RowsOfTask(ABC):
    """What a task reads: the splits of a `Source`, whose columns it knows. The rows of a group stay together in splits.

    `text`, `label`, `id`, `group`: see Column.
    """

    def __init__(self, source: Source, *, text: Column, label: Column, id: Column, group: Column):
        self.source = source
        self.text, self.label, self.id, self.group = text, label, id, group
        self.counts: Counter[str] = Counter()  # what a kind of task has mended in the split read last

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
        self.counts.clear()
        rows = list(self._rows(self.source.records(split, names=column_names(self.columns()))))
        if wanted and self.source.bad.skip:
            rows = [row for row in rows if self._has_known_label(row)]
        without = [row.source for row in rows if row.label is None] if wanted else []
        if without:
            more = f" and {len(without) - _SHOWN:,} more" if len(without) > _SHOWN else ""
            raise DataError(
                f"{len(without):,} rows of the {split} split have no label, because the column {told(self.label)} is "
                f"absent or empty there: {', '.join(without[:_SHOWN])}{more}. Name the column, task.label=COLUMN, or "
                "label the rows."
            )
        if not rows:
            raise DataError(f"the {split} split has no rows. " + " ".join(self.remarks()))
        return rows

    def read_file(self, path: str | Path) -> Iterator[Row]:
        """The rows of any file with the task's columns, one after the other, in order; labels may be absent."""
        self.counts.clear()
        yield from self._rows(self.source.records_of(path, names=column_names(self.columns())))

    def remarks(self) -> list[str]:
        """What was left out, moved or replaced in what was read last."""
        return self.source.remarks()

    def group_of(self, row: Row) -> str:
        """Rows of one group are never on two sides of a split: by default those of the same texts, in any order."""
        return row.group if row.group is not None else "\x1f".join(sorted((*row.texts, *row.choices, *row.words)))

    def columns(self) -> list[Column]:
        """The columns that are looked for in a header."""
        return [self.text, self.label, self.id, self.group]

    @abstractmethod
    def texts_of(self, record: Record) -> dict[str, Any]:
        """`texts`, `words` or `choices` of a Row. Raises UnusableError where they are no texts."""

    @abstractmethod
    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> Any:
        """A Row's label from the value in its column, which is not None. Raises UnusableError where it is none."""

    @abstractmethod
    def unknown_labels(self, row: Row) -> list[str]:
        """Labels of a row that the task's settings do not list."""

    def value_at(self, record: Record, column: Column, key: str, *, way_out: str | None = None) -> Any:
        """The value in the column that task.<key> names. Raises DataError where the file has no such column."""
        value = record.find(column)
        if value is MISSING:
            has = ", ".join(record.values) if record.named else f"{len(record.values)} columns without names, from 0 on"
            way_out = way_out or f"Name it: task.{key}=COLUMN"
            raise DataError(f"{record.source} has no column {told(column)}; there: {has}. {way_out}")
        return value

    def text_at(self, record: Record, column: Column, key: str) -> str:
        """The text in a column; a list of texts with spaces between. Raises DataError where there is no such column."""
        value = self.value_at(record, column, key)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if value is None:
            raise UnusableError(f"has no text in {told(column)}")
        if isinstance(value, dict | list):
            raise UnusableError(f"has no text but {str(value)[:40]} in {told(column)}")
        return str(value)

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

    def _has_known_label(self, row: Row) -> bool:
        """Whether a row's label is known, such as not the "-" on which annotators disagreed; else it is a bad row."""
        unknown = self.unknown_labels(row)
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
