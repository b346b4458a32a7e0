"""Plain text files."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ptcli.corpus.decoding import check_encoding, read_lines
from ptcli.corpus.document import Document
from ptcli.corpus.files import content_identity, find_files
from ptcli.corpus.sentences import check_language
from ptcli.errors import ConfigError

ENDINGS = (".txt", ".text", ".md")
_UNITS = ("blank_line", "file", "line")

# Scripts that write no space between words: lines of these are joined without one.
_UNSPACED = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U000323af"
_WRAP_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}])\n(?=[{_UNSPACED}])")


class Text:
    """Documents from plain text files, also gzipped: a file, a folder with subfolders, a pattern, or a list of these.

    `documents` says what one document is: "blank_line" (a paragraph between blank lines; its hard-wrapped lines are
    joined by a space, or by nothing between Chinese or Japanese characters), "file" (newlines stay) or "line".
    """

    has_gold_words = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        documents: str = "blank_line",
        encoding: str = "utf-8",
        language: str = "en",
    ):
        self.path = path
        self.unit = documents
        self.encoding = encoding
        self.language = language
        self._without_text = 0

    @cached_property
    def _found(self) -> tuple[list[Path], list[str]]:
        return find_files(self.path, endings=ENDINGS)

    def check(self) -> None:
        """Raise ConfigError where the path names no text, or a setting has no such value."""
        if self.unit not in _UNITS:
            raise ConfigError(f"corpus.documents={self.unit} is not known. Choose one of {', '.join(_UNITS)}.")
        check_encoding(self.encoding)
        check_language(self.language)
        _ = self._found

    def documents(self) -> Iterator[Document]:
        """The documents, file after file. A file is never held whole unless it is one document."""
        self.check()
        self._without_text = 0
        for file in self._found[0]:
            empty = True
            for text, line in self._units(file):
                empty = False
                yield Document(text, source=f"{file}:{line}")
            self._without_text += empty

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "text",
            "documents": self.unit,
            "encoding": self.encoding,
            "language": self.language,
            **content_identity(self._found[0]),
        }

    def remarks(self) -> list[str]:
        """What was left out."""
        empty = [f"{self._without_text} files hold no text"] if self._without_text else []
        return self._found[1] + empty

    def _units(self, file: Path) -> Iterator[tuple[str, int]]:
        lines = enumerate(read_lines(file, encoding=self.encoding), start=1)
        if self.unit == "line":
            yield from ((line.strip(), number) for number, line in lines if line.strip())
        elif self.unit == "file":
            if text := "\n".join(line for _, line in lines).strip():
                yield text, 1
        else:
            paragraph: list[str] = []
            first = 1
            for number, line in lines:
                if stripped := line.strip():
                    first = first if paragraph else number
                    paragraph.append(stripped)
                elif paragraph:
                    yield _unwrapped(paragraph), first
                    paragraph = []
            if paragraph:
                yield _unwrapped(paragraph), first


def _unwrapped(lines: list[str]) -> str:
    return _WRAP_UNSPACED.sub("", "\n".join(lines)).replace("\n", " ")
