"""Texts to the tensors that a PlainModel takes, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ptcli.errors import DataError
from ptcli.tokenizer.tokenizer import Tokenizer


class TextTokenizer:
    """Lays texts out as the model was trained on them. `max_length`: tokens of the longest row, special ones included.

    `inner` is the Tokenizer itself: ids, offsets, special tokens.
    """

    def __init__(self, inner: Tokenizer, *, max_length: int):
        self.inner = inner
        self.max_length = max_length

    def __call__(self, texts: str | Sequence[str]) -> dict[str, Tensor]:
        """input_ids and attention_mask (B, S), padded to the longest. Raises DataError for a text that is too long.

        Write the mask token as the tokenizer does (`tokenizer.mask_token`).
        """
        vocabulary = self.inner.vocabulary
        layout = vocabulary.layout
        encoded = self.inner.encode([texts] if isinstance(texts, str) else list(texts))
        rows = [np.concatenate([layout.prefix, ids, layout.suffix]).astype(np.int64) for ids, _, _ in encoded]
        longest = max((len(row) for row in rows), default=0)
        if longest > self.max_length:
            raise DataError(f"a text has {longest} tokens with the special ones, the model takes {self.max_length}.")
        input_ids = torch.full((len(rows), longest), vocabulary.pad_token_id)
        attention_mask = torch.zeros_like(input_ids)
        for number, row in enumerate(rows):
            input_ids[number, : len(row)] = torch.from_numpy(row)
            attention_mask[number, : len(row)] = 1
        return {"input_ids": input_ids, "attention_mask": attention_mask}

    @property
    def mask_token(self) -> str | None:
        """What is written where a token is to be guessed."""
        return self.inner.special_tokens.mask_token

    def decode(self, ids: Any) -> str:
        """The text of the ids, special tokens shown."""
        return self.inner.decode(np.asarray(ids).ravel())
