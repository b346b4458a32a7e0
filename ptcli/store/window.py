"""The windows of a stream as tokens in memory: a store for a moment, with no file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.corpus.stream import DocumentStream, Window
from ptcli.store.blocks import Encoder, Encoding
from ptcli.store.documents import Documents
from ptcli.store.units import UNIT_TYPES, Units
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.contract import Words


@dataclass(slots=True)
class MemoryShard:
    """What a shard on disk holds of its tokens; arrays as there."""

    tokens: np.ndarray
    word_starts: np.ndarray
    units: Units | None


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A window of a stream. The first one of each pass holds nothing here: it is prepared as a store."""

    place: dict[str, Any]  # where it begins
    next: dict[str, Any]  # where the one after it begins
    shard: MemoryShard | None
    documents: Documents | None


class TokenStream:
    """The windows of a stream of documents, tokenised as they come. `first_shard` numbers the second window's shard."""

    def __init__(self, stream: DocumentStream, *, words: Words, tokenizer: Tokenizer, first_shard: int):
        self.stream = stream
        self.encoder = Encoder(words=words, tokenizer=tokenizer, language=stream.corpus.language)
        self.token_type = token_type(tokenizer)
        self.first_shard = first_shard

    def windows(self, place: dict[str, Any] | None) -> Iterator[TokenWindow]:
        """Windows from a place on (None: the beginning), for ever."""
        for window in self.stream.windows(place):
            if window.place["window"] == 0:
                yield TokenWindow(window.place, window.next, None, None)
            else:
                yield self._tokenised(window)

    def _tokenised(self, window: Window) -> TokenWindow:
        number = self.first_shard + window.place["window"] - 1
        shard, documents = tokenise(window.documents, encoder=self.encoder, dtype=self.token_type, number=number)
        return TokenWindow(window.place, window.next, shard, documents)


def token_type(tokenizer: Tokenizer) -> np.dtype:
    """The smallest type that holds a tokenizer's ids, as in a store."""
    return np.dtype("uint16" if tokenizer.vocabulary.size <= 1 << 16 else "uint32")


def tokenise(
    documents: list[Document], *, encoder: Encoder, dtype: np.dtype, number: int
) -> tuple[MemoryShard, Documents]:
    """Shard `number` of these documents, and where they lie in it; those without a token are gone."""
    parts = list(encoder(documents))
    tokens = _joined([part.tokens for part in parts]).astype(dtype)
    bits = np.packbits(_joined([part.word_starts for part in parts]).astype(bool), bitorder="little")
    bases = np.cumsum([0] + [part.num_documents for part in parts])
    document = _joined([part.document_of_sentence + base for part, base in zip(parts, bases, strict=False)])
    lengths = _joined([part.sentence_lengths for part in parts]).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    firsts = np.flatnonzero(np.diff(document, prepend=-1))
    ranges = np.stack((firsts, np.append(firsts, document.shape[0])[1:]), axis=1).astype(np.int64)
    for array in (tokens, bits, offsets):
        array.setflags(write=False)  # as those on disk are: compiled loops then know one kind of array
    return MemoryShard(tokens, bits, _units(parts)), Documents(number, offsets, ranges)


def _units(parts: list[Encoding]) -> Units | None:
    bases = np.cumsum([0] + [part.tokens.shape[0] for part in parts])
    named = [p.units + np.array([base, 0, 0]) for p, base in zip(parts, bases, strict=False) if p.units is not None]
    if not named:
        return None
    columns = np.concatenate(named).T
    return Units(*(column.astype(dtype) for column, dtype in zip(columns, UNIT_TYPES.values(), strict=True)))


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
