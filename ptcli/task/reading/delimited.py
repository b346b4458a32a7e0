"""Rows of separated values, with or without a first row that names the columns."""

import csv
from collections.abc import Iterable, Iterator

from ptcli.errors import DataError
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record

_LONGEST_FIELD = 2**31 - 1  # characters; Python's own limit is 131,072


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
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.reader(
        (line + "\n" for line in lines),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=True,
    )
    columns: list[str] | None = None
    named = False
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DataError(
                f"{file}:{rows.line_num} is no row of separated values: {error}. Mend it, or type task.quote=null "
                "where quotation marks are characters like any other."
            ) from error
        if row is None:
            return
        if not row:
            continue
        source = f"{file}:{rows.line_num}"
        if columns is None:
            named = bool(names & set(row)) if header is None else header
            columns = row if named else [str(number) for number in range(len(row))]
            if named:
                continue
        if len(row) != len(columns):
            bad.add(source, f"has {len(row)} values, but the first row has {len(columns)}")
            continue
        yield Record(dict(zip(columns, row, strict=True)), source, named)
