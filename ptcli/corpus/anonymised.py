"""Token ids whose text is not known."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from ptcli.corpus.document import Document
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError

ENDINGS = (".tsv", ".txt", ".tab")
_IDS = re.compile(r"\d+(?: +\d+)*")


class Anonymised:
    """Documents from rows `id id id<TAB>id id id[<TAB>label]`: numbers that stand for words which nobody tells.

    A row is a document; each of its `segments` fields of ids is a sentence, one more field is a label: it is dropped,
    for pretraining needs none, and counted. The ids are the text, separated by spaces: tokenizer=ids reads them. There
    are no words.
    """

    language = "en"  # sentences are the fields: there is nothing to divide
    has_gold_words = False
    has_words = False
    has_text = False

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        segments: int = 2,
        streaming: bool = False,
        window: int | None = None,
    ):
        self.files = LineFiles(path, endings=ENDINGS, encoding="utf-8")
        self.segments = segments
        self.streaming, self.window = streaming, window
        self._labels = self._without_ids = 0

    def check(self) -> None:
        """Raise ConfigError where the path names no file or its first row is no such row."""
        if self.segments < 1:
            raise ConfigError(f"corpus.segments={self.segments} must be at least 1; rows of two texts have 2.")
        check_window(streaming=self.streaming, window=self.window)
        self.files.check()
        for file in self.files:
            for number, line in enumerate(self.files.lines(file), start=1):
                if line.strip():
                    try:
                        self._fields(line, source=f"{file}:{number}")
                    except DataError as error:
                        raise ConfigError(str(error)) from error
                    return

    def documents(self) -> Iterator[Document]:
        """The documents, row after row; rows without an id are counted and left out."""
        self._labels = self._without_ids = 0
        for file in self.files:
            for number, line in enumerate(self.files.lines(file), start=1):
                if not line.strip():
                    continue
                source = f"{file}:{number}"
                if fields := self._fields(line, source=source):
                    begins = accumulate((len(field) + 1 for field in fields[:-1]), initial=0)
                    yield Document("\n".join(fields), source=source, sentences=tuple(begins))
                else:
                    self._without_ids += 1

    def identity(self) -> dict[str, Any]:
        """What the files hold and how it is read; where they lie does not count."""
        return {
            "corpus": "anonymised",
            "segments": self.segments,
            **self.files.identity(read=not self.streaming),
        }

    def remarks(self) -> list[str]:
        """What was left out."""
        return [
            *self.files.remarks(),
            *([f"{self._labels:,} labels are dropped: pretraining needs none"] if self._labels else []),
            *([f"{self._without_ids:,} rows hold no id"] if self._without_ids else []),
        ]

    def _fields(self, line: str, *, source: str) -> list[str]:
        """The fields of ids that hold any."""
        fields = [field.strip() for field in line.split("\t")]
        if not self.segments <= len(fields) <= self.segments + 1:
            raise DataError(
                f"{source} has {len(fields)} fields between tabs; corpus.segments={self.segments} expects "
                f"{self.segments} of ids and at most one more, a label: id id id<TAB>id id id<TAB>label. "
                "Give corpus.segments=NUMBER."
            )
        ids = [field for field in fields[: self.segments] if field]
        if wrong := next((field for field in ids if not _IDS.fullmatch(field)), None):
            raise DataError(
                f"{source} holds {wrong[:40]!r}, which is no row of ids: whole numbers with spaces between. "
                "Choose corpus=text, or corpus=tsv, for text."
            )
        self._labels += len(fields) > self.segments
        return [" ".join(field.split()) for field in ids]
