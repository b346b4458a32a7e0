"""Tokenizers that exist already: where they lie, and how they are read. Only data is read, no code."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.families import Family, dress
from ptcli.tokenizer.special_tokens import find_special_tokens
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.wordpiece import word_pieces

_WHOLE, _BARE = "tokenizer.json", "vocab.txt"
_PLACES = ("", "model/tokenizer", "model", "tokenizer")  # of a folder, of a run, of a store
_DECLARES = ("special_tokens_map.json", "tokenizer_config.json")
_COUNTS = "token_counts.npy"


@dataclass(frozen=True)
class Known:
    """A tokenizer's file: a tokenizer.json, or the bare vocabulary of a WordPiece, an entry a line.

    `lowercase` is for the bare one: null does as its folder says (do_lower_case), else as its entries are.
    """

    file: Path
    lowercase: bool | None = None

    @property
    def is_bare(self) -> bool:
        """Whether the file says nothing but the entries."""
        return self.file.suffix != ".json"

    def check(self) -> None:
        """Raise ConfigError where it is no tokenizer, or has no mask or no padding token."""
        if self.is_bare:
            entries = self._entries()
        else:
            try:
                entries = _vocabulary(json.loads(self.file.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ConfigError(
                    f"{self.file} is no tokenizer: {error!r}. Give a tokenizer.json of the library tokenizers."
                ) from error
        special = find_special_tokens(entries, folder=self.file.parent, source=self.file)
        if self.is_bare and not (special.unk_token and special.cls_token and special.sep_token):
            raise ConfigError(f"{self.file} is no vocabulary of BERT's: it lacks [UNK], [CLS] or [SEP].")

    def load(self) -> Tokenizer:
        """Read it. Raises DataError where it cannot be read."""
        return self._read_bare() if self.is_bare else Tokenizer.load(self.file)

    def content(self) -> str:
        """A hash of all that `load` and `counts` read."""
        state = hashlib.blake2b(digest_size=16)
        beside = [self.file.parent / name for name in _DECLARES]
        for file in [self.file, *beside, self._counts_file()]:
            state.update(file.read_bytes() if file is not None and file.is_file() else b"")
            state.update(b"\0")
        state.update(str(self.lowercase).encode())
        return state.hexdigest()

    def counts(self) -> np.ndarray | None:
        """How often each id occurred in what the tokenizer was last used for, int64 (V,); None where it is not kept."""
        file = self._counts_file()
        try:
            return None if file is None else np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataError(f"{file} cannot be read: {error}") from error

    def _counts_file(self) -> Path | None:
        places = (self.file.parent / _COUNTS, self.file.parent.parent / _COUNTS)
        return next((place for place in places if place.is_file()), None)

    def _entries(self) -> dict[str, int]:
        try:
            lines = self.file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.file} cannot be read as a vocabulary: {error}") from error
        entries = {line.removesuffix("\r"): number for number, line in enumerate(lines)}
        if len(entries) < len(lines):
            raise ConfigError(
                f"{self.file} is no vocabulary: {len(lines) - len(entries):,} of its lines stand there twice. "
                "It must hold an entry a line."
            )
        return entries

    def _read_bare(self) -> Tokenizer:
        entries = self._entries()
        roles = find_special_tokens(entries, folder=self.file.parent, source=self.file)
        cls, sep, unknown = roles.cls_token, roles.sep_token, roles.unk_token
        assert cls and sep and unknown
        inner = word_pieces(entries, unknown, lowercase=self._is_uncased(entries, set(roles.named().values())))
        layout = Family(
            roles,
            tuple(roles.named().values()),
            single=f"{cls} $A {sep}",
            pair=f"{cls} $A {sep} $B:1 {sep}:1",
        )
        dress(inner, layout)
        return Tokenizer(inner, special_tokens=roles)

    def _is_uncased(self, entries: dict[str, int], special: set[str]) -> bool:
        if self.lowercase is not None:
            return self.lowercase
        declared = self.file.parent / "tokenizer_config.json"
        if declared.is_file():
            said = json.loads(declared.read_text(encoding="utf-8")).get("do_lower_case")
            if isinstance(said, bool):
                return said
        return all(entry == entry.lower() for entry in entries if entry not in special and entry[:1] != "[")


def find_known(path: str, *, key: str, lowercase: bool | None = None) -> Known:
    """The tokenizer of a file, a Hugging Face folder, a run or a store. Raises ConfigError that names `key`."""
    place = Path(str(path)).expanduser()
    if not place.exists():
        raise ConfigError(f"{key}={path} does not exist. Give a tokenizer.json, a vocab.txt, or the folder of one.")
    files = [place / inner / name for inner in _PLACES for name in (_WHOLE, _BARE)]
    file = place if place.is_file() else next((file for file in files if file.is_file()), None)
    if file is None:
        held = ", ".join(sorted(entry.name for entry in place.iterdir())[:8]) or "nothing"
        raise ConfigError(
            f"{key}={path} holds no {_WHOLE} and no {_BARE}, but {held}. "
            "Save the tokenizer in this form: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER)"
        )
    known = Known(file, lowercase)
    known.check()
    return known


def _vocabulary(content: dict[str, Any]) -> dict[str, int]:
    entries = content["model"]["vocab"]
    if isinstance(entries, list):  # Unigram: (piece, score) in order
        entries = {piece: number for number, (piece, _) in enumerate(entries)}
    return {**entries, **{added["content"]: added["id"] for added in content.get("added_tokens", [])}}
