"""Tokens of repeated stretches of text, remembered: the same ids and offsets as the tokenizer, several times faster."""

import json
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

_MOST_CHUNKS = 1 << 17  # about 40 MB; beyond it the memory starts anew

# Signs that BERT's pre-tokenizer makes words of their own. Cutting there makes chunks repeat more often; the brackets
# of special tokens are not among them.
_SIGNS = "，。、！？：；「」『』（）《》“”‘’—…,.;:!?\"'()-"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WHITE = r" \t\n\r"


class ChunkCache:
    """Cuts texts where the pre-tokenizer would cut in any case, and asks the tokenizer about each piece once."""

    def __init__(self, inner: Any, *, pattern: re.Pattern[str]):
        self._inner = inner
        self._pieces_of = pattern.findall
        self._forget()

    @classmethod
    def of(cls, inner: Any) -> "ChunkCache | None":
        """The cache for a `tokenizers.Tokenizer`; None where a chunk's tokens may depend on what stands around it.

        That cannot be with BERT's normaliser and pre-tokenizer, which act on characters and cut at white space,
        punctuation and ideographs, where no added token reaches over such a place.
        """
        parts = json.loads(inner.to_str())
        normalizer, pre_tokenizer = parts["normalizer"] or {}, parts["pre_tokenizer"] or {}
        if normalizer.get("type") != "BertNormalizer" or pre_tokenizer.get("type") != "BertPreTokenizer":
            return None
        alone = re.escape(_SIGNS) + (_HAN if normalizer["handle_chinese_chars"] else "")
        pattern = re.compile(rf"[{alone}][{_WHITE}]*|[^{alone}{_WHITE}]+[{_WHITE}]*|[{_WHITE}]+")
        for added in parts["added_tokens"]:
            context = added["lstrip"] or added["rstrip"] or added["single_word"] or added["normalized"]
            if context or len(pattern.findall(added["content"])) != 1:
                return None
        return cls(inner, pattern=pattern)

    def encode(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """ids, starts, ends of each text."""
        pieces = [self._pieces_of(text) for text in texts]
        flat = list(chain.from_iterable(pieces))
        if len(self._numbers) > _MOST_CHUNKS:
            self._forget()
        self._learn([chunk for chunk in dict.fromkeys(flat) if chunk not in self._numbers])
        numbers = np.fromiter(map(self._numbers.__getitem__, flat), np.int64, len(flat))

        counts = self._counts[numbers]
        chunk_ends = np.cumsum(counts)
        # token t of the result is token `source[t]` of the memory
        source = np.arange(int(counts.sum())) + np.repeat(self._first[numbers] - (chunk_ends - counts), counts)
        lengths = self._lengths[numbers]
        shift = np.repeat(np.cumsum(lengths) - lengths, counts)
        ids, starts, ends = self._ids[source], self._starts[source] + shift, self._ends[source] + shift

        result = []
        chunk = token = character = 0
        for text, chunks in zip(texts, pieces, strict=True):
            chunk += len(chunks)
            stop = int(chunk_ends[chunk - 1]) if chunk else 0
            stretch = slice(token, stop)
            result.append(
                (
                    ids[stretch],
                    (starts[stretch] - character).astype(np.int32),
                    (ends[stretch] - character).astype(np.int32),
                )
            )
            token, character = stop, character + len(text)
        return result

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}
        self._first, self._counts, self._lengths = (np.zeros(0, np.int64) for _ in range(3))
        self._ids, self._starts, self._ends = (np.zeros(0, np.int32) for _ in range(3))

    def _learn(self, chunks: list[str]) -> None:
        if not chunks:
            return
        encodings = self._inner.encode_batch(chunks, add_special_tokens=False)
        counts = np.fromiter(map(len, encodings), np.int64, len(encodings))
        first = self._ids.size + np.cumsum(counts) - counts
        ids = np.fromiter(chain.from_iterable(e.ids for e in encodings), np.int32)
        offsets = np.array(list(chain.from_iterable(e.offsets for e in encodings)), np.int32).reshape(-1, 2)
        lengths = np.fromiter(map(len, chunks), np.int64, len(chunks))
        self._numbers.update(zip(chunks, range(len(self._numbers), len(self._numbers) + len(chunks)), strict=True))
        self._first, self._counts = np.append(self._first, first), np.append(self._counts, counts)
        self._lengths = np.append(self._lengths, lengths)
        self._ids = np.append(self._ids, ids)
        self._starts, self._ends = np.append(self._starts, offsets[:, 0]), np.append(self._ends, offsets[:, 1])
