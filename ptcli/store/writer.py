"""Writing one shard of a store, memory-bounded."""

from pathlib import Path

import numpy as np

from ptcli.store.files import GrowingArray, GrowingBits
from ptcli.store.units import UNIT_TYPES


class ShardWriter:
    """Takes sentences in order and writes them, with the documents that they make, into the new folder `folder`."""

    def __init__(self, folder: Path, *, token_type: str, has_units: bool = False):
        folder.mkdir()
        self._tokens = GrowingArray(folder / "tokens.npy", dtype=token_type)
        self._word_starts = GrowingBits(folder / "word_starts.npy")
        self._sentence_offsets = GrowingArray(folder / "sentence_offsets.npy", dtype=np.int64)
        self._document_offsets = GrowingArray(folder / "document_offsets.npy", dtype=np.int64)
        named = UNIT_TYPES.items() if has_units else ()
        self._units = [GrowingArray(folder / f"unit_{name}.npy", dtype=dtype) for name, dtype in named]
        self._sentence_offsets.append(np.zeros(1, np.int64))
        self._document_offsets.append(np.zeros(1, np.int64))
        self._last_document_end = 0  # in sentences
        self.one_sentence_documents = 0

    def append(
        self,
        tokens: np.ndarray,
        word_starts: np.ndarray,
        sentence_lengths: np.ndarray,
        ends_document: np.ndarray,
        units: np.ndarray | None = None,
    ) -> None:
        """Add whole sentences; `ends_document`, bool (S,), says after which of them a document ends.

        `units`: int32 (U, 3), first of the tokens given, number of tokens, type.
        """
        before, first_token = self.num_sentences, self.num_tokens
        self._sentence_offsets.append(first_token + np.cumsum(sentence_lengths))
        self._tokens.append(tokens)
        self._word_starts.append(word_starts)
        self._end_documents(before + np.flatnonzero(ends_document) + 1)
        if units is not None:
            for array, values in zip(self._units, (first_token + units[:, 0], *units[:, 1:].T), strict=True):
                array.append(values)

    def end_document(self) -> bool:
        """The document that was begun ends here; whether there was one."""
        begun = self.num_sentences > self._last_document_end
        if begun:
            self._end_documents(np.array([self.num_sentences]))
        return begun

    @property
    def num_tokens(self) -> int:
        """Tokens so far."""
        return self._tokens.length

    @property
    def num_sentences(self) -> int:
        """Sentences so far."""
        return self._sentence_offsets.length - 1

    @property
    def num_documents(self) -> int:
        """Documents that have ended so far."""
        return self._document_offsets.length - 1

    @property
    def num_units(self) -> int | None:
        """Named units so far; None where none are written."""
        return self._units[0].length if self._units else None

    def close(self) -> None:
        """Finish the last document and write everything to disk."""
        self.end_document()
        for array in (self._tokens, self._word_starts, self._sentence_offsets, self._document_offsets, *self._units):
            array.close()

    def _end_documents(self, ends: np.ndarray) -> None:
        if not ends.size:
            return
        self._document_offsets.append(ends)
        self.one_sentence_documents += int((np.diff(ends, prepend=self._last_document_end) == 1).sum())
        self._last_document_end = int(ends[-1])
