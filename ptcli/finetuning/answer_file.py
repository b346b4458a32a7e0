"""Writing answers as they come: JSON lines, CSV, TSV, or what a benchmark takes."""

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

from ptcli.errors import ConfigError

Answer = Mapping[str, Any]
"""What a task's `decode` says of one row, in plain values."""

FORMATS = MappingProxyType({".jsonl": "jsonl", ".csv": "csv", ".tsv": "tsv"})
"""Suffix of a file -> format."""


def format_of(output: str | None, format: str) -> str:
    """The format that `auto` stands for. ConfigError where the file's name does not say."""
    if format != "auto":
        return format
    if output is None:
        return "jsonl"
    suffix = Path(output).suffix.lower()
    if suffix not in FORMATS:
        raise ConfigError(
            f"output={output}: its name does not say which format is wanted. End it with {', '.join(FORMATS)}, "
            "or type format=jsonl, csv, tsv or submission."
        )
    return FORMATS[suffix]


class AnswerFile:
    """Writes answers one after the other: `with AnswerFile.open(output, "csv") as file: file.write(answers)`."""

    def __init__(self, file: TextIO, format: str):
        self._file, self._format = file, format
        self._columns: list[str] = []

    @classmethod
    @contextmanager
    def open(cls, output: str | None, format: str) -> "Iterator[AnswerFile]":
        """Into a file that is there whole or not at all; None: onto the terminal. ConfigError where it cannot be."""
        if output is None:
            yield cls(sys.stdout, format)
            return
        path = Path(output).expanduser()
        if path.is_dir():
            raise ConfigError(f"output={output} is a folder. Name a file.")
        temporary = path.with_name(f".tmp-{path.name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(temporary, "w", encoding="utf-8", newline="")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise ConfigError(f"output={output} cannot be written: {error.strerror}. Name another file.") from error
        try:
            with file:
                yield cls(file, format)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def write(self, answers: Sequence[Answer]) -> None:
        """The next answers. Columns of CSV and TSV are those of the first one."""
        if self._format == "jsonl":
            self._file.writelines(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers)
            return
        flat = [_flat(answer) for answer in answers]
        if not self._columns and flat:
            self._columns = list(dict.fromkeys(name for one in flat for name in one))
            self._writer().writerow(self._columns)
        self._writer().writerows([one.get(name, "") for name in self._columns] for one in flat)

    def write_lines(self, lines: Sequence[str]) -> None:
        """The next lines of a submission."""
        self._file.writelines(f"{line}\n" for line in lines)

    def _writer(self) -> Any:
        if self._format == "csv":
            return csv.writer(self._file, lineterminator="\n")
        return csv.writer(self._file, delimiter="\t", lineterminator="\n")


def _flat(answer: Answer) -> dict[str, Any]:
    """Nested mappings as columns `outer_inner`, lists as JSON."""
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}_{inner}": _plain(one) for inner, one in value.items()}
        else:
            flat[name] = _plain(value)
    return flat


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict) else value
