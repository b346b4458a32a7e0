"""Rows that are JSON objects: one a line, or a list of them in one document."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ptcli.errors import DataError
from ptcli.task.reading.bad_rows import BadRows
from ptcli.task.reading.record import Record


def json_records(lines: Iterable[str], *, file: str, bad: BadRows) -> Iterator[Record]:
    """The objects of a file of JSON lines."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        source = f"{file}:{number}"
        try:
            values = json.loads(line)
        except ValueError as error:
            bad.add(source, f"is no JSON: {error}")
            continue
        if not isinstance(values, dict):
            bad.add(source, f"holds no object but {line[:40]}")
            continue
        yield Record(values, source)


def document_of(lines: Iterable[str], *, file: str) -> Any:
    """The one JSON document that a file holds. Raises DataError where it is none."""
    try:
        return json.loads("\n".join(lines))
    except ValueError as error:
        raise DataError(
            f"{file} is no JSON: {error}. Mend it, or say what it is: task.format=jsonl, csv, ..."
        ) from error


def list_records(rows: Any, *, file: str, bad: BadRows) -> Iterator[Record]:
    """The objects of a document that is a list of them."""
    if not isinstance(rows, list):
        raise DataError(f"{file} holds no list of objects. Say what it is: task.format=squad, jsonl, ...")
    for number, values in enumerate(rows):
        source = f"{file}, row {number}"
        if isinstance(values, dict):
            yield Record(values, source)
        else:
            bad.add(source, f"is no object but {str(values)[:40]}")
