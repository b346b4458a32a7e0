"""What every corpus yields, and what it is asked."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Document:
    """One document. `words`: character offsets [start, end) of gold words, (n, 2) int32, where they are known."""

    text: str
    words: np.ndarray | None = None
    source: str = ""  # file and line, for messages
    language: str | None = None  # where it is not the corpus's: a mixture holds several
    sentences: tuple[int, ...] | None = None  # where each begins, the first at 0, where the corpus knows it
    # Set by whoever makes a store, not by a corpus: which document of the corpus this is, from 0 (`numbered`), and
    # where in that document this stretch of it begins.
    number: int = -1
    start: int = 0  # characters


_given = attrgetter(*(each.name for each in fields(Document) if each.name not in ("number", "start")))


def numbered(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents with their numbers in the corpus."""
    for number, document in enumerate(documents):
        yield Document(*_given(document), number=number)  # dataclasses.replace takes several times as long


class Corpus(Protocol):
    """A source of documents, the same ones in the same order at every pass."""

    language: str  # ISO 639-1, for sentence boundaries
    has_gold_words: bool  # a fact for the fit rules

    def check(self) -> None:
        """Raise ConfigError, in well under a second, where a path is absent or without text or a package is missing."""
        ...

    def documents(self) -> Iterator[Document]:
        """The documents, in a fixed order; never an empty one."""
        ...

    def identity(self) -> dict[str, Any]:
        """What the store's fingerprint must change with: settings that shape documents, and the content's hash."""
        ...

    def remarks(self) -> list[str]:
        """What was repaired, replaced or left out while reading, counted; one line each. Called after reading."""
        ...
