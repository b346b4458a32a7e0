"""Chinese words, and among them the names that a tagger knows, as units."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.words.chinese import Chinese, runs_of_ideographs
from ptcli.words.contract import UNIT_TYPES
from ptcli.words.units import NO_UNITS

_RULE = 2
_NAMES = (
    "nr",
    "ns",
    "nt",
    "nz",
)  # persons (also nrt, nrfg), places, organisations, other names
_SHORTEST = 2  # characters


class Entities:
    """The words of words=chinese; those that rjieba tags as a name are entities (ERNIE's units, arXiv 1904.09223).

    Tags nr, ns, nt and nz, on words of two characters or more: shorter ones are mostly mistaken. Names of one tag that
    stand side by side are one entity, as a city and its district. The tagger is a dictionary's, so a name is known by
    its spelling alone.
    """

    needs_gold_words = False
    makes_units = True
    unit_types = ("entity",)  # no phrases: mask.levels=[phrase] is refused

    def __init__(self) -> None:
        self._words = Chinese()

    def check(self) -> None:
        """Raise ConfigError where rjieba is not installed."""
        self._words.check()

    def spans(self, document: Document) -> np.ndarray:
        """The words of the document's text, int32 (n, 2)."""
        return self._words.spans(document)

    def units(self, document: Document) -> np.ndarray:
        """The names, int32 (n, 3)."""
        import rjieba

        found: list[tuple[int, int, int]] = []
        at = 0
        for piece, is_run in runs_of_ideographs(document.text):
            if is_run:
                found += [
                    (at + start, at + end, UNIT_TYPES.index("entity")) for start, end in _names(rjieba.tag(piece))
                ]
            at += len(piece)
        return np.array(found, np.int32) if found else NO_UNITS

    def identity(self) -> dict[str, Any]:
        """The rule and what the words change with."""
        return {**self._words.identity(), "words": "entities", "names": _RULE}


def _names(tagged: list[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """First character and end of each name among words with their tags; names of one tag side by side are one."""
    start = 0
    for tag, words in groupby(tagged, key=lambda pair: _name_tag(*pair)):
        end = start + sum(len(word) for word, _ in words)
        if tag is not None:
            yield start, end
        start = end


def _name_tag(word: str, tag: str) -> str | None:
    """The tag of a name's kind; None for what is no name."""
    return tag[:2] if len(word) >= _SHORTEST and tag.startswith(_NAMES) else None
