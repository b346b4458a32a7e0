"""Texts and their translations."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from ptcli.corpus.document import Document
from ptcli.corpus.lines import LineFiles
from ptcli.corpus.packed import File
from ptcli.corpus.sentences import check_language
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError, DataError

ENDINGS = (".txt", ".text")


class Parallel:
    """Documents of two sentences, a line of the first file and the line of the same number of the second.

    A masked model that sees both in one example can look a hidden word up in the other language: translation language
    modelling (Lample and Conneau, "Cross-lingual Language Model Pretraining", arXiv 1901.07291; no language embeddings
    and no restarted positions here). With a pair of two segments it learns which lines belong together. A line is one
    sentence, whatever marks stand in it. Pairs with an empty side are counted and left out.
    """

    has_gold_words = False
    most_sentences = 2  # of a document: a source and a target

    def __init__(
        self,
        path: str | Sequence[str] | None,
        *,
        encoding: str = "utf-8",
        language: str = "en",
        streaming: bool = False,
        window: int | None = None,
    ):
        self.files = LineFiles(path, endings=ENDINGS, encoding=encoding)
        self.language = language
        self.streaming, self.window = streaming, window
        self._empty = 0

    def check(self) -> None:
        """Raise ConfigError where the path does not name two files."""
        check_window(streaming=self.streaming, window=self.window)
        check_language(self.language)
        self.files.check()
        self._two()

    def documents(self) -> Iterator[Document]:
        """The documents, line after line. Raises DataError where one file has more lines than the other."""
        self._empty = 0
        first, second = self._two()
        lines = zip_longest(self.files.lines(first), self.files.lines(second))
        for number, (source, target) in enumerate(lines, start=1):
            if source is None or target is None:
                shorter, longer = (first, second) if source is None else (second, first)
                raise DataError(
                    f"{shorter} has {number - 1:,} lines, {longer} has more: they are no translations line by line. "
                    "Mend the files, or name others: corpus.path=[train.en,train.de]"
                )
            if not source.strip() or not target.strip():
                self._empty += 1
                continue
            source, target = source.strip(), target.strip()
            yield Document(f"{source}\n{target}", source=f"{first}:{number}, {second}", sentences=(0, len(source) + 1))

    def identity(self) -> dict[str, Any]:
        """What the files hold, in their order, and how it is read; where they lie does not count."""
        return {"corpus": "parallel", "language": self.language, **self.files.identity(read=not self.streaming)}

    def remarks(self) -> list[str]:
        """What was left out."""
        empty = [f"{self._empty:,} pairs of lines have an empty side"] if self._empty else []
        return [*self.files.remarks(), *empty]

    def _two(self) -> tuple[File, File]:
        files = list(self.files)
        if len(files) != 2:
            raise ConfigError(
                f"corpus=parallel reads two files, but corpus.path={self.files.path} names {len(files)}. "
                "Give the texts and their translations: corpus.path=[train.en,train.de]"
            )
        return files[0], files[1]
