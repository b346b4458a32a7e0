"""JSON lines: one object a line."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ptcli.corpus.column import TextColumn
from ptcli.corpus.document import Document
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.packed import File
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError

ENDINGS = (".jsonl", ".ndjson", ".json")


class Jsonl:
    """Documents from files of JSON objects, one a line, also packed or in a zip: the strings under `text_key`.

    Rows where it is null or blank are counted and left out; half surrogate pairs ("\\ud83d" alone) become U+FFFD.
    """

    has_gold_words = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        text_key: str = "text",
        encoding: str = "utf-8",
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.files = LineFiles(path, endings=ENDINGS, encoding=encoding)
        self.column = TextColumn(text_key)
        self.language = language
        self.streaming, self.window = streaming, window

    def check(self) -> None:
        """Raise ConfigError where the path names no file, or the first row has no `text_key`."""
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)
        self.files.check()
        for file in self.files:
            for source, row in self._rows(file):
                if self.column.name not in row:
                    raise ConfigError(self.column.missing(row, source=source))
                return

    def documents(self) -> Iterator[Document]:
        """The documents, row after row."""
        self.column.begin()
        for file in self.files:
            for source, row in self._rows(file):
                if self.column.name not in row:
                    raise DataError(self.column.missing(row, source=source))
                if document := self.column.document(row[self.column.name], source=source, columns=row):
                    yield document

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "jsonl",
            "text_key": self.column.name,
            "language": self.language,
            **self.files.identity(read=not self.streaming),
        }

    def remarks(self) -> list[str]:
        """What was left out or replaced."""
        return [*self.files.remarks(), *self.column.remarks()]

    def _rows(self, file: File) -> Iterator[tuple[str, dict[str, Any]]]:
        example = f'{{"{self.column.name}": "..."}}'
        for number, line in enumerate(self.files.lines(file), start=1):
            if not line.strip():
                continue
            source = f"{file}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{source} is no JSON: {error}. Each line holds one object: {example}") from error
            if not isinstance(row, dict):
                raise DataError(f"{source} holds no object but {line[:40]}. Write {example} a line.")
            yield source, row
