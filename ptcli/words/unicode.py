"""Words by the classes of Unicode characters: for every language, with no dictionary."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.words.units import NO_UNITS

_RULE = 1  # changes with the rules of this file

# Scripts written without spaces, where only a dictionary knows the words: a character with its marks is one here.
HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_UNSPACED = HAN + (
    "\u3041-\u3096\u309d-\u309f"  # Hiragana; Katakana mostly writes single words, so its runs are kept
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065-\u1066\u106e-\u1070\u1075-\u1081"  # Myanmar
    "\u1780-\u17b3\u17d7\u17dc"  # Khmer
    "\u0f40-\u0f6c\u0f88-\u0f8c"  # Tibetan
)
_ASSIGNED = (range(0x40000), range(0xE0000, 0xE1000))  # the other planes hold no letter and no mark


class Unicode:
    """Words by character class.

    A run of letters, digits and their combining marks is a word, also over an inner apostrophe (don't, l’eau) and over
    a full stop or comma between digits (3.14, 1,000); a hyphen and an underscore separate. Chinese ideographs,
    Hiragana, Thai, Lao, Khmer, Myanmar and Tibetan letters are a word each, with their marks. Every other sign is a
    word of its own; an emoji keeps its modifiers and joined parts, a flag its two letters.
    """

    needs_gold_words = False
    ends_at_spaces = True  # no word reaches over a space or depends on what stands behind one: preparation remembers
    ends_at_signs = True  # nor over a sign behind a letter, but for an apostrophe
    makes_units = False
    unit_types = ()

    def check(self) -> None:
        """Nothing can be missing."""

    def spans(self, document: Document) -> np.ndarray:
        """The words of the document's text, int32 (n, 2)."""
        return spans_of(pieces_pattern().findall(document.text))

    def units(self, document: Document) -> np.ndarray:
        """None are named."""
        return NO_UNITS

    def identity(self) -> dict[str, Any]:
        """The rule and the version of Unicode it reads."""
        return {"words": "unicode", "rule": _RULE, "unicode": unicodedata.unidata_version}


def spans_of(pieces: list[str]) -> np.ndarray:
    """Where those of the pieces lie that are not white space, int32 (n, 2); the pieces together are the text."""
    lengths = np.fromiter(map(len, pieces), np.int32, len(pieces))
    is_word = ~np.fromiter(map(str.isspace, pieces), bool, len(pieces))
    spans = np.empty((len(pieces), 2), np.int32)
    np.cumsum(lengths, out=spans[:, 1])
    np.subtract(spans[:, 1], lengths, out=spans[:, 0])
    return spans[is_word]


@cache
def pieces_pattern(before: str = "") -> re.Pattern[str]:
    """The pattern whose matches, one after another, are the whole text: words, and runs of white space.

    `before` is an alternative that is tried first.
    """
    mark, letter = _marks_and_letters()
    return re.compile(
        rf"\s+|{before}[{_UNSPACED}][{mark}]*"
        rf"|[{letter}]+(?:(?:['’＇](?=[{letter}])|(?<=[0-9])[.,](?=[0-9]))[{letter}]+)*"
        r"|[\U0001F1E6-\U0001F1FF]{2}"  # a flag
        # any other sign, with marks and skin tones, and what a zero-width joiner ties to it
        rf"|\S[{mark}\U0001F3FB-\U0001F3FF]*(?:(?<=\u200d)[^\s{letter}][{mark}\U0001F3FB-\U0001F3FF]*)*"
    )


@cache
def _marks_and_letters() -> tuple[str, str]:
    """Combining marks, and what spaced words are written in, as the insides of character classes."""
    unspaced = re.compile(f"[{_UNSPACED}]")
    marks, letters = [], []
    for code in chain(*_ASSIGNED):
        category = unicodedata.category(chr(code))
        if category[0] == "M":
            marks.append(code)
        if category[0] in "LMN" and not unspaced.match(chr(code)):
            letters.append(code)
    inner = "\u200c\u200d\u00ad"  # joiners and the soft hyphen stand within words
    return _ranges(marks) + inner, _ranges(letters) + inner


def _ranges(codes: Iterable[int]) -> str:
    """The inside of a character class."""
    return "".join(f"{_escaped(first)}-{_escaped(last)}" for first, last in _runs(codes))


def _runs(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for code in codes:
        if first is None or last is None:
            first = last = code
        elif code == last + 1:
            last = code
        else:
            yield first, last
            first = last = code
    if first is not None and last is not None:
        yield first, last


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"
