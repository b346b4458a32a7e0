"""Plain text files."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from ptcli.corpus.document import Document
from ptcli.corpus.gutenberg import without_frame
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.packed import File
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError

ENDINGS = (".txt", ".text", ".md")
_UNITS = ("blank_line", "file", "line")
_LINES = 10_000  # that are gone through at once

# Scripts that write no space between words: lines of these are joined without one.
_UNSPACED = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U000323af"
_WRAP_UNSPACED = re.compile(rf"\n(?<=[{_UNSPACED}]\n)(?=[{_UNSPACED}])")  # the break first: it is found fast


class Text:
    """Documents from plain text files: a file, a folder with subfolders, a pattern, or a list of these.

    Files may be packed by gzip or zstd, or lie in a zip. `documents` says what one document is: "blank_line" (a
    paragraph between blank lines), "file" or "line". `join_lines` joins the hard-wrapped lines of a paragraph by a
    space, or by nothing between Chinese or Japanese characters; None: for blank_line only. `strip_gutenberg` removes
    the frame of Project Gutenberg's books. `streaming` and `window`: see ptcli/corpus/stream.py.
    """

    has_gold_words = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        documents: str = "blank_line",
        join_lines: bool | None = None,
        strip_gutenberg: bool = False,
        encoding: str = "utf-8",
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.files = LineFiles(path, endings=ENDINGS, encoding=encoding)
        self.unit = documents
        self.join_lines = documents == "blank_line" if join_lines is None else join_lines
        self.strip_gutenberg = strip_gutenberg
        self.language = language
        self.streaming, self.window = streaming, window
        self._without_text = self._without_frame = 0

    def check(self) -> None:
        """Raise ConfigError where the path names no text, or a setting has no such value."""
        if self.unit not in _UNITS:
            raise ConfigError(f"corpus.documents={self.unit} is not known. Choose one of {', '.join(_UNITS)}.")
        if self.unit == "line" and self.join_lines:
            raise ConfigError(
                "corpus.documents=line makes each line a document, so corpus.join_lines=true joins nothing. "
                "Choose corpus.documents=blank_line or file, or leave join_lines out."
            )
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)
        self.files.check()

    def documents(self) -> Iterator[Document]:
        """The documents, file after file. A file is never held whole unless it is one document."""
        self.check()
        self._without_text = self._without_frame = 0
        for file in self.files:
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
            "join_lines": self.join_lines,
            "strip_gutenberg": self.strip_gutenberg,
            "language": self.language,
            **self.files.identity(read=not self.streaming),
        }

    def remarks(self) -> list[str]:
        """What was left out."""
        return [
            *self.files.remarks(),
            *([f"{self._without_text} files hold no text"] if self._without_text else []),
            *(
                [f"corpus.strip_gutenberg: {self._without_frame} files have no frame of Project Gutenberg"]
                if self._without_frame
                else []
            ),
        ]

    def _lines(self, file: File) -> Iterator[list[str]]:
        """All lines of a file, many at a time."""
        lines = self.files.some_lines(file)
        if not self.strip_gutenberg:
            return lines
        left = without_frame(chain.from_iterable(lines), on_missing=self._count_frame)
        return iter(lambda: [*islice(left, _LINES)], [])

    def _count_frame(self) -> None:
        self._without_frame += 1

    def _units(self, file: File) -> Iterator[tuple[str, int]]:
        some_lines = self._lines(file)
        if self.unit == "blank_line":
            yield from self._paragraphs(some_lines)
        elif self.unit == "file" and self.join_lines:
            if paragraphs := [text for text, _ in self._paragraphs(some_lines)]:
                yield "\n\n".join(paragraphs), 1
        else:
            lines = chain.from_iterable(some_lines)
            if self.unit == "line":
                yield from ((line.strip(), number) for number, line in enumerate(lines, start=1) if line.strip())
            elif text := "\n".join(lines).strip():
                yield text, 1

    def _paragraphs(self, some_lines: Iterator[list[str]]) -> Iterator[tuple[str, int]]:
        """What stands between blank lines, and the number of its first line."""
        paragraph: list[str] = []
        first = before = 1
        for lines in some_lines:
            stripped = [*map(str.strip, lines), ""]
            begin = 0
            while begin < len(lines):
                end = stripped.index("", begin)  # a blank line, or what stands behind the last
                if begin < end:
                    first = first if paragraph else before + begin
                    paragraph += stripped[begin:end]
                if paragraph and end < len(lines):
                    yield self._joined(paragraph), first
                    paragraph = []
                begin = end + 1
            before += len(lines)
        if paragraph:
            yield self._joined(paragraph), first

    def _joined(self, lines: list[str]) -> str:
        text = "\n".join(lines)
        if self.join_lines and text.isascii():
            return text.replace("\n", " ")
        return _WRAP_UNSPACED.sub("", text).replace("\n", " ") if self.join_lines else text
