"""JSON lines: one object a line."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ptcli.corpus.decoding import check_encoding, read_lines
from ptcli.corpus.document import Document
from ptcli.corpus.files import content_identity, find_files
from ptcli.corpus.sentences import check_language
from ptcli.errors import ConfigError, DataError

ENDINGS = (".jsonl", ".ndjson", ".json")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Jsonl:
    """Documents from files of JSON objects, one a line, also gzipped: the strings under `text_key`.

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
    ):
        self.path = path
        self.text_key = text_key
        self.encoding = encoding
        self.language = language
        self._without_text = self._repaired = 0

    @cached_property
    def _found(self) -> tuple[list[Path], list[str]]:
        return find_files(self.path, endings=ENDINGS)

    def check(self) -> None:
        """Raise ConfigError where the path names no file, or the first row has no `text_key`."""
        check_encoding(self.encoding)
        check_language(self.language)
        for file in self._found[0]:
            for source, row in self._rows(file):
                if self.text_key not in row:
                    raise ConfigError(_no_column(self.text_key, row, source))
                return

    def documents(self) -> Iterator[Document]:
        """The documents, row after row."""
        self._without_text = self._repaired = 0
        for file in self._found[0]:
            for source, row in self._rows(file):
                if self.text_key not in row:
                    raise DataError(_no_column(self.text_key, row, source))
                text = row[self.text_key]
                if text is not None and not isinstance(text, str):
                    raise DataError(
                        f"{source}: {self.text_key} is {json.dumps(text)[:60]}, not a string. "
                        f"Choose another column by corpus.text_key: {', '.join(row)}."
                    )
                if text is None or not text.strip():
                    self._without_text += 1
                    continue
                text, repaired = _SURROGATE.subn("\ufffd", text)
                self._repaired += repaired > 0
                yield Document(text.replace("\r\n", "\n").strip(), source=source)

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "jsonl",
            "text_key": self.text_key,
            "encoding": self.encoding,
            "language": self.language,
            **content_identity(self._found[0]),
        }

    def remarks(self) -> list[str]:
        """What was left out or replaced."""
        return [
            *self._found[1],
            *([f"{self._without_text} rows have no {self.text_key}"] if self._without_text else []),
            *([f"{self._repaired} rows held half surrogate pairs, now U+FFFD"] if self._repaired else []),
        ]

    def _rows(self, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, line in enumerate(read_lines(file, encoding=self.encoding), start=1):
            if not line.strip():
                continue
            source = f"{file}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(
                    f'{source} is no JSON: {error}. Each line holds one object: {{"{self.text_key}": "..."}}'
                ) from error
            if not isinstance(row, dict):
                raise DataError(f'{source} holds no object but {line[:40]}. Write {{"{self.text_key}": "..."}} a line.')
            yield source, row


def _no_column(text_key: str, row: dict[str, Any], source: str) -> str:
    return (
        f"{source} has no column {text_key}. The columns there: {', '.join(row) or 'none'}. "
        "Name one: corpus.text_key=COLUMN"
    )
