"""Chinese words by a segmenter."""

import re
from collections.abc import Iterator
from importlib import metadata, util
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError
from ptcli.words.unicode import HAN, pieces_pattern, spans_of
from ptcli.words.units import NO_UNITS

_RULE = 1
_RUN = f"[{HAN}]{{2,}}"
_is_run = re.compile(_RUN).fullmatch


class Chinese:
    """Words of Chinese text by rjieba (jieba's dictionary and hidden Markov model, in Rust).

    Only runs of ideographs are segmented. Latin words, numbers and punctuation follow words=unicode, whole.
    """

    needs_gold_words = False
    makes_units = False
    unit_types = ()

    def check(self) -> None:
        """Raise ConfigError where rjieba is not installed."""
        if util.find_spec("rjieba") is None:
            raise ConfigError('words=chinese needs the package rjieba. Type: pip install "ptcli[zh]"')

    def spans(self, document: Document) -> np.ndarray:
        """The words of the document's text, int32 (n, 2)."""
        import rjieba

        pieces: list[str] = []
        for piece, is_run in runs_of_ideographs(document.text):
            if is_run:
                pieces += rjieba.cut(piece)
            else:
                pieces.append(piece)
        return spans_of(pieces)

    def units(self, document: Document) -> np.ndarray:
        """None are named."""
        return NO_UNITS

    def identity(self) -> dict[str, Any]:
        """The rule and the segmenter's version."""
        self.check()
        return {"words": "chinese", "rule": _RULE, "rjieba": metadata.version("rjieba")}


def runs_of_ideographs(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces whose sequence is the text, and whether each is two or more ideographs, which need a segmenter."""
    for piece in pieces_pattern(before=_RUN + "|").findall(text):
        yield piece, len(piece) > 1 and _is_run(piece) is not None
