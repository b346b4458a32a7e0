"""The tokenizer that every recipe builds: text to ids with character offsets, and back."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import astuple
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import DataError
from ptcli.tokenizer.chunk_cache import ChunkCache
from ptcli.tokenizer.special_tokens import SpecialTokens, find_special_tokens, vocabulary_of

# The threads of `tokenizers` and a later fork do not go together; preparation runs several processes instead.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_MAPPED_TO = "ptcli_mapped_to"  # key in tokenizer_config.json

Encoded = tuple[np.ndarray, np.ndarray, np.ndarray]
"""ids, starts, ends of the tokens of one text, int32 (n,) each; starts and ends are character offsets."""


class Tokenizer:
    """A `tokenizers.Tokenizer` with its special tokens. `hash` is equal for tokenizers that give equal ids.

    `mapped_to` is the hash of another tokenizer whose ids this one uses for words of its own, so that weights trained
    with that one can be continued with this one.
    """

    def __init__(self, inner: Any, *, special_tokens: SpecialTokens, mapped_to: str | None = None):
        inner.no_padding()
        inner.no_truncation()  # many published files carry a truncation; nothing may be cut unseen
        self.inner = inner
        self.special_tokens = special_tokens
        self.mapped_to = mapped_to
        self.vocabulary = vocabulary_of(inner, special_tokens)
        defining = json.dumps([inner.to_str(), special_tokens.named(), astuple(self.vocabulary.layout)])
        self.hash = hashlib.blake2b(defining.encode(), digest_size=16).hexdigest()
        self._cache = ChunkCache.of(inner)

    @property
    def cuts_at_spaces(self) -> bool:
        """Whether the tokens of a text are those of its pieces, each with the one space before it, put together."""
        return self._cache is not None

    @property
    def cuts_at_signs(self) -> bool:
        """The same where a text is cut between a letter of ASCII and a sign behind it that is no apostrophe."""
        return self._cache is not None and self._cache.cuts_at_signs

    def encode(self, texts: Sequence[str], *, remember: bool = True) -> list[Encoded]:
        """The tokens of each text, no special ones added; special tokens written in a text become their ids."""
        if remember and self._cache is not None:
            return self._cache.encode(texts)
        result = []
        for encoding in self.inner.encode_batch(list(texts), add_special_tokens=False):
            offsets = np.fromiter(chain.from_iterable(encoding.offsets), np.int32).reshape(-1, 2)
            result.append((np.array(encoding.ids, np.int32), offsets[:, 0], offsets[:, 1]))
        return result

    def decode(self, ids: Sequence[int] | np.ndarray) -> str:
        """The text of the ids, special tokens shown."""
        return self.inner.decode([int(i) for i in ids], skip_special_tokens=False)

    def token(self, id: int) -> str:
        """The token of an id; "" where there is none."""
        return self.inner.id_to_token(int(id)) or ""

    def id(self, token: str) -> int | None:
        """The id of a token, None where there is none."""
        return self.inner.token_to_id(token)

    def save(self, folder: Path) -> None:
        """Write the files that `load` and transformers' AutoTokenizer read."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        named = self.special_tokens.named()
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            "clean_up_tokenization_spaces": False,
            **named,
            **({} if self.mapped_to is None else {_MAPPED_TO: self.mapped_to}),
        }
        self.inner.save(str(folder / "tokenizer.json"))
        _write_json(folder / "tokenizer_config.json", config)
        _write_json(folder / "special_tokens_map.json", named)

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """The tokenizer that `save` wrote, or of any folder with a tokenizer.json, or of that file itself.

        Raises DataError where it cannot be read, ConfigError where it has no mask or no padding token.
        """
        import tokenizers

        file = Path(folder)
        file = file / "tokenizer.json" if file.is_dir() else file
        try:
            inner = tokenizers.Tokenizer.from_file(str(file))
        except Exception as error:  # tokenizers raises plain Exception
            raise DataError(f"{file} cannot be read as a tokenizer: {error}") from error
        names = find_special_tokens(inner.get_vocab(with_added_tokens=True), folder=file.parent, source=file)
        return cls(inner, special_tokens=names, mapped_to=_mapped_to(file.parent / "tokenizer_config.json"))


def _mapped_to(file: Path) -> str | None:
    try:
        return json.loads(file.read_text(encoding="utf-8")).get(_MAPPED_TO) if file.is_file() else None
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _write_json(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
