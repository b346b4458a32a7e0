"""Writing the shards of a store, memory-bounded."""

from pathlib import Path
from typing import Any

import numpy as np

from ptcli.store.files import GrowingArray, GrowingBits
from ptcli.store.shard import shard_folder


class ShardWriter:
    """Takes sentences in order and writes shards of at most `limit` tokens.

    A shard ends with a document once three quarters of it are filled; a document that would not fit goes on, from a
    sentence's beginning, as another document of the next shard and is counted in `split_documents`.
    """

    def __init__(self, folder: Path, *, token_type: str, limit: int):
        self.folder = folder
        self.token_type = token_type
        self.limit = limit
        self.shards: list[dict[str, Any]] = []
        self.documents = self.one_sentence_documents = self.sentences = self.tokens = self.split_documents = 0
        self._open = False
        self._sentences_of_document = 0  # of the document that was begun, in this shard
        self._begun = False  # whether a document that has not ended has sentences in this shard or the one before

    def append(
        self, tokens: np.ndarray, word_starts: np.ndarray, sentence_lengths: np.ndarray, ends_document: np.ndarray
    ) -> None:
        """Add whole sentences; `ends_document`, bool (S,), says after which of them a document ends."""
        token = sentence = 0
        while sentence < sentence_lengths.shape[0]:
            if not self._open:
                self._begin()
            filled = self._tokens.length + np.cumsum(sentence_lengths[sentence:])
            fit = int(np.searchsorted(filled, self.limit, side="right"))
            enough = np.flatnonzero(ends_document[sentence : sentence + fit] & (filled[:fit] * 4 >= self.limit * 3))
            if enough.size:
                fit = int(enough[0]) + 1
            elif fit == 0 and self._tokens.length == 0:
                fit = 1  # a single sentence longer than a shard has one of its own
            closes = bool(enough.size) or fit < filled.shape[0]
            stop = token + int(sentence_lengths[sentence : sentence + fit].sum())
            self._add(
                tokens[token:stop],
                word_starts[token:stop],
                sentence_lengths[sentence : sentence + fit],
                ends_document[sentence : sentence + fit],
            )
            token, sentence = stop, sentence + fit
            if closes:
                self._close_shard()
        if ends_document.size:
            self._begun = not ends_document[-1]

    def end_document(self) -> bool:
        """The document that was begun ends here; whether there was one."""
        begun = self._begun
        if self._sentences_of_document:
            self._end_documents(np.array([self._offset_in_shard()]))
        self._begun = False
        return begun

    def close(self) -> None:
        """Finish the last shard."""
        self.end_document()
        if self._open:
            self._close_shard()

    def _begin(self) -> None:
        folder = shard_folder(self.folder, len(self.shards))
        folder.mkdir()
        self._tokens = GrowingArray(folder / "tokens.npy", dtype=self.token_type)
        self._word_starts = GrowingBits(folder / "word_starts.npy")
        self._sentence_offsets = GrowingArray(folder / "sentence_offsets.npy", dtype=np.int64)
        self._document_offsets = GrowingArray(folder / "document_offsets.npy", dtype=np.int64)
        self._sentence_offsets.append(np.zeros(1, np.int64))
        self._document_offsets.append(np.zeros(1, np.int64))
        self._first_document = self.documents
        self._last_document_end = 0
        self._open = True

    def _add(
        self, tokens: np.ndarray, word_starts: np.ndarray, sentence_lengths: np.ndarray, ends_document: np.ndarray
    ) -> None:
        before = self._offset_in_shard()
        self._sentence_offsets.append(self._tokens.length + np.cumsum(sentence_lengths))
        self._tokens.append(tokens)
        self._word_starts.append(word_starts)
        self._end_documents(before + np.flatnonzero(ends_document) + 1)
        self._sentences_of_document = self._offset_in_shard() - self._last_document_end
        self.sentences += sentence_lengths.shape[0]
        self.tokens += tokens.shape[0]

    def _end_documents(self, ends: np.ndarray) -> None:
        if not ends.size:
            return
        self._document_offsets.append(ends)
        self.one_sentence_documents += int((np.diff(ends, prepend=self._last_document_end) == 1).sum())
        self.documents += ends.shape[0]
        self._last_document_end = int(ends[-1])
        self._sentences_of_document = 0

    def _offset_in_shard(self) -> int:
        return self._sentence_offsets.length - 1 if self._open else 0

    def _close_shard(self) -> None:
        if self._sentences_of_document:  # the document goes on in the next shard
            self.split_documents += 1
            self._end_documents(np.array([self._offset_in_shard()]))
        self.shards.append(
            {
                "num_tokens": self._tokens.length,
                "num_sentences": self._sentence_offsets.length - 1,
                "num_documents": self._document_offsets.length - 1,
                "first_document": self._first_document,
            }
        )
        for array in (self._tokens, self._word_starts, self._sentence_offsets, self._document_offsets):
            array.close()
        self._open = False
