"""Rows of separated values, with or without a first row that names the columns."""

from collections.abc import Iterable, Iterator

from ptcli.corpus.csv import separated_rows
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record


def delimited_records(
    lines: Iterable[str],
    *,
    file: str,
    delimiter: str,
    quote: str | None,
    header: bool | None,
    names: set[str],
    bad: BadRows,
) -> Iterator[Record]:
    """The rows that are not empty. `header`: whether the first row names the columns; None: if it has one of `names`.

    A row with another number of values than the first is a bad one.
    """
    columns: list[str] | None = None
    named = False
    for source, row in separated_rows(lines, file=file, delimiter=delimiter, quote=quote, group="task"):
        if columns is None:
            named = bool(names & set(row)) if header is None else header
            columns = row if named else [str(number) for number in range(len(row))]
            if named:
                continue
        if len(row) != len(columns):
            bad.add(source, f"has {len(row)} values, but the first row has {len(columns)}")
            continue
        yield Record(dict(zip(columns, row, strict=True)), source, named)
