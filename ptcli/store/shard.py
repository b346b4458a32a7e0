"""One shard of a store: memory-mapped arrays."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ptcli.errors import DataError
from ptcli.store.files import size_on_disk
from ptcli.store.units import UNIT_TYPES, Units


@dataclass(frozen=True)
class Shard:
    """The tokens, word starts, sentences and documents of one shard, read where they lie on disk.

    It may be sent to another process: only its place is, not its arrays.
    """

    folder: Path
    number: int
    num_tokens: int
    num_sentences: int
    num_documents: int
    first_document: int  # number of its first document in the whole store
    token_type: str  # "uint16" or "uint32"
    num_units: int | None = None  # None where the words choice makes no named units

    @cached_property
    def tokens(self) -> np.ndarray:
        """uint16 or uint32 (T,): all tokens, no special ones between them."""
        return self._array("tokens")

    @cached_property
    def word_starts(self) -> np.ndarray:
        """uint8 (ceil(T / 8),): bit t % 8 of byte t // 8 says that token t begins a word."""
        return self._array("word_starts")

    @cached_property
    def sentence_offsets(self) -> np.ndarray:
        """int64 (S + 1,): sentence s is tokens [s], [s + 1]; none is empty."""
        return self._array("sentence_offsets")

    @cached_property
    def document_offsets(self) -> np.ndarray:
        """int64 (D + 1,): document d is sentences [d], [d + 1]; none is empty."""
        return self._array("document_offsets")

    @cached_property
    def units(self) -> Units | None:
        """The named units; None where the words choice makes none."""
        if self.num_units is None:
            return None
        return Units(*(self._array(f"unit_{name}") for name in Units._fields))

    def word_starts_at(self, positions: np.ndarray) -> np.ndarray:
        """Whether the tokens at `positions` begin words, bool (n,)."""
        return (self.word_starts[positions >> 3] >> (positions & 7) & 1).astype(bool)

    def check(self) -> None:
        """Raise DataError where a file is absent or has another size than was written."""
        expected = {
            "tokens": size_on_disk(self.num_tokens, self.token_type),
            "word_starts": size_on_disk((self.num_tokens + 7) // 8, np.uint8),
            "sentence_offsets": size_on_disk(self.num_sentences + 1, np.int64),
            "document_offsets": size_on_disk(self.num_documents + 1, np.int64),
        }
        if self.num_units is not None:
            for name, dtype in UNIT_TYPES.items():
                expected[f"unit_{name}"] = size_on_disk(self.num_units, dtype)
        for name, size in expected.items():
            file = self._file(name)
            found = file.stat().st_size if file.is_file() else None
            if found != size:
                told = "is absent" if found is None else f"has {found:,}"
                raise DataError(
                    f"the store is damaged: {file} should have {size:,} bytes and {told}. Delete the store."
                )

    def __getstate__(self) -> dict:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

    def _array(self, name: str) -> np.ndarray:
        return np.load(self._file(name), mmap_mode="r")


def shard_folder(store: Path, number: int) -> Path:
    """Where a shard lies in its store."""
    return store / f"shard-{number:05d}"
