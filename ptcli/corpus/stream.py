"""A corpus that is read as it flows past: documents in windows, over and over, from any place."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from ptcli.corpus.document import Corpus, Document
from ptcli.errors import ConfigError, DataError

WINDOW = 4_000_000
"""Characters of a window: about a million tokens of English."""

BEGINNING: dict[str, Any] = {"pass": 0, "window": 0, "documents": 0, "source": None}


@runtime_checkable
class Seekable(Protocol):
    """A corpus that finds its place again by itself, faster than by reading up to it."""

    def documents_from(self, state: dict[str, Any]) -> Iterator[Document]:
        """The documents that come after those given when `state` was taken."""
        ...

    def state(self) -> dict[str, Any]:
        """Where the iteration that was begun last stands; plain values."""
        ...


@dataclass(frozen=True, slots=True)
class Window:
    """Documents that are held at once. Places hold: pass over the corpus, window and documents in it, source."""

    documents: list[Document]
    place: dict[str, Any]  # where it begins
    next: dict[str, Any]  # where the one after it begins


class DocumentStream:
    """The documents of a corpus in windows of at least `characters` (the last of a pass may be shorter), for ever.

    Which documents make a window is the corpus's and the number of characters' alone. Of each window the stream gives
    every `world`-th document of the corpus, beginning with number `rank`: together the ranks read all of it once.
    """

    def __init__(self, corpus: Corpus, *, characters: int = WINDOW, rank: int = 0, world: int = 1):
        self.corpus, self.characters = corpus, characters
        self.rank, self.world = rank, world

    def windows(self, place: dict[str, Any] | None = None) -> Iterator[Window]:
        """Windows from a place on (None: the beginning). Raises DataError where the corpus has no document."""
        place = place or BEGINNING
        while True:
            window = None
            for window in self._rest_of_pass(place):
                yield window
            if window is None:
                raise DataError(
                    "the corpus holds no document. " + " ".join([*self.corpus.remarks(), "Check its path."])
                )
            place = window.next

    def _rest_of_pass(self, place: dict[str, Any]) -> Iterator[Window]:
        documents: list[Document] = []
        held, read, after = 0, place["documents"], place
        for document in self._documents_from(place):
            if held >= self.characters:
                yield Window(documents, place, after)
                place, documents, held = after, [], 0
            if read % self.world == self.rank:
                documents.append(replace(document, number=read))
            held, read = held + len(document.text), read + 1
            if held >= self.characters:  # asked before the next document is read, which would move the source on
                source = self.corpus.state() if isinstance(self.corpus, Seekable) else None
                after = {"pass": place["pass"], "window": place["window"] + 1, "documents": read, "source": source}
        if held:
            yield Window(documents, place, {**BEGINNING, "pass": place["pass"] + 1})

    def _documents_from(self, place: dict[str, Any]) -> Iterator[Document]:
        if place["source"] is not None and isinstance(self.corpus, Seekable):
            return self.corpus.documents_from(place["source"])
        return islice(self.corpus.documents(), place["documents"], None)


class Head:
    """The first window of a stream, as a corpus of its own: what the tokenizer and the held-out text come from."""

    def __init__(self, stream: DocumentStream):
        self.stream, self.corpus = stream, stream.corpus
        self.language, self.has_gold_words = self.corpus.language, self.corpus.has_gold_words
        self._documents = self._characters = 0

    def check(self) -> None:
        """As the whole corpus."""
        self.corpus.check()

    def documents(self) -> Iterator[Document]:
        """The documents of the first window."""
        window = next(self.stream.windows())
        self._documents = len(window.documents)
        self._characters = sum(len(document.text) for document in window.documents)
        yield from window.documents

    def identity(self) -> dict[str, Any]:
        """The whole corpus's and how much of it this is."""
        return {"head": self.stream.characters, "of": self.corpus.identity()}

    def remarks(self) -> list[str]:
        """The corpus's own, and what the head is for."""
        return [
            *self.corpus.remarks(),
            f"corpus.streaming: the first {self._documents:,} documents ({self._characters:,} characters) are "
            "prepared. A tokenizer is trained on these; held-out documents are among these and never trained on. "
            "What follows is tokenised while training reads it",
        ]


def stream_of(corpus: Any) -> DocumentStream:
    """The windows of a corpus that has streaming=True."""
    return DocumentStream(corpus, characters=corpus.window or WINDOW)


def head_of(corpus: Any) -> Any:
    """What of a corpus is prepared: its first window where it is streamed, else all of it."""
    return Head(stream_of(corpus)) if getattr(corpus, "streaming", False) else corpus


def check_window(*, streaming: bool, window: int | None) -> None:
    """Raise ConfigError where the window of a stream is too small or there is no stream."""
    if window is not None and not streaming:
        raise ConfigError(
            f"corpus.window={window} does nothing without corpus.streaming=true. Give both, or leave it out."
        )
    if window is not None and window < 1:
        raise ConfigError(f"corpus.window={window} must be at least 1 character; usual are 1000000 to 100000000.")
