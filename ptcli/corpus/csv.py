"""Tables of separated values: CSV, and TSV as a preset."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ptcli.corpus.column import TextColumn
from ptcli.corpus.document import Document
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.packed import File
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError

_LONGEST_FIELD = 2**31 - 1  # characters; Python's own limit is 131,072
_ENDINGS = {",": (".csv",), "\t": (".tsv", ".tab")}


class Csv:
    """Documents from tables whose first row names the columns, also packed or in a zip: the values under `text_key`.

    `delimiter` is one character. With `quote` a value between two of it may hold delimiters and ends of lines, and the
    quote itself twice; None: a quotation mark is a character like any other, as in most TSV files.
    """

    has_gold_words = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        text_key: str = "text",
        delimiter: str = ",",
        quote: str | None = '"',
        encoding: str = "utf-8",
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.files = LineFiles(path, endings=_ENDINGS.get(delimiter, (".csv", ".txt")), encoding=encoding)
        self.column = TextColumn(text_key)
        self.delimiter, self.quote = delimiter, quote
        self.language = language
        self.streaming, self.window = streaming, window

    def check(self) -> None:
        """Raise ConfigError where the path names no file, a mark is no single character, or `text_key` is no column."""
        for key, mark in (("delimiter", self.delimiter), ("quote", self.quote)):
            if mark is not None and len(mark) != 1:
                raise ConfigError(f"corpus.{key}={mark!r} must be one character. Write corpus.{key}=';' or '\\t'.")
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)
        self.files.check()
        for file in self.files:
            for source, names in self._rows(file):
                if self.column.name not in names:
                    raise ConfigError(self.column.missing(names, source=source))
                return

    def documents(self) -> Iterator[Document]:
        """The documents, row after row. Raises DataError where a row has another number of values than the first."""
        self.column.begin()
        for file in self.files:
            rows = self._rows(file)
            _, names = next(rows, ("", [self.column.name]))
            if self.column.name not in names:
                raise DataError(self.column.missing(names, source=f"{file}:1"))
            at = names.index(self.column.name)
            for source, row in rows:
                if len(row) != len(names):
                    raise DataError(
                        f"{source} has {len(row)} values, but the first row names {len(names)} columns. Mend the row, "
                        f"or give how the file is written: corpus.delimiter={self.delimiter!r} now, "
                        f"corpus.quote={self.quote or 'null'} now."
                    )
                if document := self.column.document(row[at], source=source, columns=names):
                    yield document

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "csv",
            "text_key": self.column.name,
            "delimiter": self.delimiter,
            "quote": self.quote,
            "language": self.language,
            **self.files.identity(read=not self.streaming),
        }

    def remarks(self) -> list[str]:
        """What was left out or replaced."""
        return [*self.files.remarks(), *self.column.remarks()]

    def _rows(self, file: File) -> Iterator[tuple[str, list[str]]]:
        """The rows, the names of the columns first, and where each ends."""
        return separated_rows(self.files.lines(file), file=str(file), delimiter=self.delimiter, quote=self.quote)


def separated_rows(
    lines: Iterable[str], *, file: str, delimiter: str, quote: str | None, group: str = "corpus"
) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table that are not empty, and where each ends. `lines` are without their ends.

    Raises DataError where a row cannot be read, which tells of the key `group`.quote.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.reader(
        (line + "\n" for line in lines),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DataError(
                f"{file}:{rows.line_num} is no row of separated values: {error}. Mend it, or type "
                f"{group}.quote=null where quotation marks are characters like any other."
            ) from error
        if row is None:
            return
        if row:
            yield f"{file}:{rows.line_num}", row
