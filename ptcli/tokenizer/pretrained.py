"""A tokenizer that exists already."""

import hashlib
import json
from pathlib import Path
from typing import Any

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError
from ptcli.tokenizer.special_tokens import find_special_tokens
from ptcli.tokenizer.tokenizer import Tokenizer

_FILE = "tokenizer.json"
_PLACES = ("", "model", "tokenizer")  # of a folder, or of a run folder


class Pretrained:
    """The tokenizer of a tokenizer.json, of a Hugging Face folder that holds one, or of a run folder.

    Only data is read: none of the folder's code runs. Special tokens are found by name.
    """

    def __init__(self, path: str | None):
        self.path = path

    def check(self) -> None:
        """Raise ConfigError where there is no tokenizer.json, or the tokenizer has no mask or padding token."""
        file = self._file()
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            vocabulary = _vocabulary(content)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{file} is no tokenizer: {error!r}. Give a tokenizer.json of the library tokenizers."
            ) from error
        find_special_tokens(vocabulary, folder=file.parent, source=file)

    def build(self, corpus: Corpus, *, cache: Path) -> Tokenizer:
        """Load it; the corpus and the cache are not needed."""
        return Tokenizer.load(self._file())

    def identity(self) -> dict[str, Any]:
        """What the file holds; where it lies does not count."""
        content = hashlib.blake2b(self._file().read_bytes(), digest_size=16).hexdigest()
        return {"tokenizer": "pretrained", "content": content}

    def remarks(self) -> list[str]:
        """Nothing is changed."""
        return []

    def _file(self) -> Path:
        if not self.path:
            raise ConfigError(
                "tokenizer=pretrained needs a path: tokenizer.path=FOLDER, a folder or run with a tokenizer.json."
            )
        place = Path(str(self.path)).expanduser()
        if place.is_file():
            return place
        for inner in _PLACES:
            if (file := place / inner / _FILE).is_file():
                return file
        if not place.exists():
            raise ConfigError(f"tokenizer.path={self.path} does not exist. Give a tokenizer.json or its folder.")
        held = ", ".join(sorted(entry.name for entry in place.iterdir())[:8]) or "nothing"
        raise ConfigError(
            f"tokenizer.path={self.path} holds no tokenizer.json, but {held}. "
            "Save the tokenizer in this form: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER)"
        )


def _vocabulary(content: dict[str, Any]) -> dict[str, int]:
    entries = content["model"]["vocab"]
    if isinstance(entries, list):  # Unigram: (piece, score) in order
        entries = {piece: number for number, (piece, _) in enumerate(entries)}
    return {**entries, **{added["content"]: added["id"] for added in content.get("added_tokens", [])}}
