"""Tokens of repeated stretches of text, remembered: the same ids and offsets as the tokenizer, several times faster."""

import json
import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

# About 15 MB; beyond it the memory starts anew. Text without spaces has long chunks, and hardly one twice.
_MOST_CHUNKS, _MOST_CHARACTERS = 1 << 15, 1 << 21
_AT_ONCE = 1 << 11  # new chunks: the library's answers take a kilobyte each

# Signs that BERT's pre-tokenizer makes words of their own. Cutting there makes chunks repeat more often; the brackets
# of special tokens are not among them.
_SIGNS = "，。、！？：；「」『』（）《》“”‘’—…,.;:!?\"'()-"
_ASCII_SIGNS = '!"#$%&()*+,-.:;=?@^`{}~'
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WHITE = r" \t\n\r"
_UNICODE_WHITE = _WHITE + "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WHITE_CONTROLS = r"\v\f\x85"  # white space too, but some normalisers drop them


class ChunkCache:
    """Cuts texts where the pre-tokenizer would cut in any case, and asks the tokenizer about each piece once."""

    def __init__(self, inner: Any, *, pattern: re.Pattern[str], cuts_at_signs: bool):
        self._inner = inner
        self.cuts_at_signs = cuts_at_signs
        self._pieces_of = pattern.findall
        self._forget()

    @classmethod
    def of(cls, inner: Any) -> "ChunkCache | None":
        """The cache for a `tokenizers.Tokenizer`; None where a chunk's tokens may depend on what stands around it.

        That cannot be where the normaliser and the pre-tokenizer act on characters and always cut where chunks do, and
        no added token reaches over such a place.
        """
        parts = json.loads(inner.to_str())
        bert = _bert(parts)
        at_signs = bert or _byte_level(parts)
        written = at_signs or _metaspace(parts)
        if written is None:
            return None
        pattern = re.compile(written)
        for added in parts["added_tokens"]:
            takes_before = bert and added["lstrip"]  # other chunks begin with the white space before them
            context = takes_before or added["rstrip"] or added["single_word"] or added["normalized"]
            if context or len(pattern.findall(added["content"])) != 1:
                return None
        return cls(inner, pattern=pattern, cuts_at_signs=at_signs is not None)

    def encode(self, texts: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """ids, starts, ends of each text."""
        pieces = [self._pieces_of(text) for text in texts]
        flat = list(chain.from_iterable(pieces))
        if len(self._numbers) > _MOST_CHUNKS or self._lengths.sum() > _MOST_CHARACTERS:
            self._forget()
        new = [chunk for chunk in dict.fromkeys(flat) if chunk not in self._numbers]
        for first in range(0, len(new), _AT_ONCE):
            self._learn(new[first : first + _AT_ONCE])
        numbers = np.fromiter(map(self._numbers.__getitem__, flat), np.int64, len(flat))

        counts = self._counts[numbers]
        chunk_ends = np.cumsum(counts)
        # token t of the result is token `source[t]` of the memory
        source = np.arange(int(counts.sum())) + np.repeat(self._first[numbers] - (chunk_ends - counts), counts)
        lengths = self._lengths[numbers]
        shift = np.repeat(np.cumsum(lengths) - lengths, counts)
        ids, starts, ends = self._ids[source], self._starts[source] + shift, self._ends[source] + shift

        chunks_of = np.cumsum([len(chunks) for chunks in pieces], dtype=np.int64)
        stops = np.append(0, chunk_ends)[chunks_of]
        characters = np.fromiter(map(len, texts), np.int64, len(texts))
        before = np.repeat(np.cumsum(characters) - characters, np.diff(stops, prepend=0))
        starts, ends = (starts - before).astype(np.int32), (ends - before).astype(np.int32)
        bounds = pairwise([0, *stops.tolist()])
        return [(ids[first:stop], starts[first:stop], ends[first:stop]) for first, stop in bounds]

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
        pairs = chain.from_iterable(e.offsets for e in encodings)
        offsets = np.fromiter(chain.from_iterable(pairs), np.int32).reshape(-1, 2)
        lengths = np.fromiter(map(len, chunks), np.int64, len(chunks))
        self._numbers.update(zip(chunks, range(len(self._numbers), len(self._numbers) + len(chunks)), strict=True))
        self._first, self._counts = np.append(self._first, first), np.append(self._counts, counts)
        self._lengths = np.append(self._lengths, lengths)
        self._ids = np.append(self._ids, ids)
        self._starts, self._ends = np.append(self._starts, offsets[:, 0]), np.append(self._ends, offsets[:, 1])


def _bert(parts: dict[str, Any]) -> str | None:
    """Chunks end before ideographs and punctuation, which are words of their own, and hold the white space after."""
    normalizer, pre_tokenizer = parts["normalizer"] or {}, parts["pre_tokenizer"] or {}
    if normalizer.get("type") != "BertNormalizer" or pre_tokenizer.get("type") != "BertPreTokenizer":
        return None
    alone = re.escape(_SIGNS) + (_HAN if normalizer["handle_chinese_chars"] else "")
    return rf"[{alone}][{_WHITE}]*|[^{alone}{_WHITE}]+[{_WHITE}]*|[{_WHITE}]+"


def _byte_level(parts: dict[str, Any]) -> str | None:
    """Chunks hold the white space before them: a word never reaches into the white space after it.

    They end between letters and signs, too, where these are ASCII; not at an apostrophe, which may go with letters.
    """
    pre_tokenizer = parts["pre_tokenizer"] or {}
    if parts["normalizer"] is not None or pre_tokenizer.get("type") != "ByteLevel":
        return None
    if pre_tokenizer["add_prefix_space"] or not pre_tokenizer["use_regex"]:
        return None
    white, letter, sign = _UNICODE_WHITE + _WHITE_CONTROLS, "A-Za-z0-9", re.escape(_ASCII_SIGNS)
    border = rf"(?=[{white}])|(?<=[{letter}])(?=[{sign}])|(?<=[{sign}])(?=[{letter}])|\Z"
    common = rf"[{letter}]+(?=[{sign}{white}])|[{sign}]+(?=[{letter}{white}])"
    return rf"[{white}]*(?:{common}|[^{white}]+?(?:{border}))|[{white}]+"


def _metaspace(parts: dict[str, Any]) -> str | None:
    """As for bytes: white space is joined into one "▁" before the word, and what is left at the end goes."""
    pre_tokenizer = parts["pre_tokenizer"] or {}
    if pre_tokenizer.get("type") != "Metaspace" or pre_tokenizer["prepend_scheme"] == "never":
        return None
    *first, spaces, strip = (parts["normalizer"] or {}).get("normalizers") or [{}, {}]
    cleans = any(step.get("type") == "BertNormalizer" and step["clean_text"] for step in first)
    plain = all(
        step["type"] in ("NFKC", "NFC") or (step["type"] == "BertNormalizer" and not step["handle_chinese_chars"])
        for step in first
    )
    joins = spaces.get("type") == "Replace" and spaces["pattern"] == {"Regex": " {2,}"} and spaces["content"] == " "
    strips = strip.get("type") == "Strip" and strip["strip_right"] and not strip["strip_left"]
    if not (pre_tokenizer["split"] and cleans and plain and joins and strips):
        return None
    return rf"[{_UNICODE_WHITE}]*[^{_UNICODE_WHITE}]+|[{_UNICODE_WHITE}]+"
