"""What a token stands for inside a text: to be shown, and to be counted in characters."""

import re
from functools import cached_property
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_PART = "\ufffd"  # what decoding gives for bytes that are no whole character


class TokenTexts:
    """Reads single tokens of a tokenizer: without the marks of its family (`##`, `Ġ`, `▁`) and without spaces."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._texts: dict[int, str] = {}

    def text(self, id: int) -> str:
        """The text of a token behind another one, no space around it; its own name where it is special or all space.

        A token of bytes that make no whole character holds U+FFFD in their place.
        """
        return self._stripped(id) or self._tokenizer.token(id)

    def num_characters(self, id: int) -> int:
        """Characters that begin in the token, spaces not counted: those of all tokens of a text are the text's."""
        text = self._stripped(id)
        if _PART not in text and not _BYTE.fullmatch(text):
            return len(text)
        token = self._tokenizer.token(id)
        written = _BYTE.fullmatch(token)
        values = [int(written[1], 16)] if written else [_BYTES.get(letter, 0) for letter in token]
        return sum(not 0x80 <= value < 0xC0 and value != 0x20 for value in values)

    @cached_property
    def _before(self) -> tuple[int, str]:
        """An ordinary token to stand before the one that is read, and its text."""
        ids = self._tokenizer.encode(["a"])[0][0]
        first = int(ids[0]) if len(ids) else int(self._tokenizer.vocabulary.ordinary_ids[0])
        return first, self._tokenizer.decode([first])

    def _stripped(self, id: int) -> str:
        if id not in self._texts:
            self._texts[id] = self._read(id)
        return self._texts[id]

    def _read(self, id: int) -> str:
        token = self._tokenizer.token(id)
        if self._tokenizer.vocabulary.special[id]:
            return token
        before, lead = self._before
        both = self._tokenizer.decode([before, id])
        return both[len(lead) :].strip() if both.startswith(lead) else token


def _bytes_by_letter() -> dict[str, int]:
    """The letters that byte-level tokenizers write for bytes: printable ones for themselves, the others from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(0x100) if value not in printable]
    return {chr(v): v for v in printable} | {chr(0x100 + place): value for place, value in enumerate(others)}


_BYTES = _bytes_by_letter()
