"""What every choice of words is asked."""

from typing import Any, Protocol

import numpy as np

from ptcli.corpus.document import Document

UNIT_TYPES = ("entity", "phrase")
"""What named units there are: what has a name (a person, a place), and other groups of words that belong together."""


class Words(Protocol):
    """A rule for where words begin and end; some also know named units, which are words or groups of words."""

    needs_gold_words: bool  # a fact for the fit rules: the corpus must know its words
    makes_units: bool  # a fact, too: whether there is anything in `units`
    unit_types: tuple[str, ...]  # names of the units' types; () where it makes none

    def check(self) -> None:
        """Raise ConfigError, in well under a second, where a package or a file is missing."""
        ...

    def spans(self, document: Document) -> np.ndarray:
        """Character offsets [start, end) of the words, int32 (n, 2): ascending, disjoint.

        Every character that is not white space is in exactly one word; punctuation marks are words of their own.
        """
        ...

    def units(self, document: Document) -> np.ndarray:
        """The named units, int32 (n, 3): first character, end, number of the type in `unit_types`.

        Ascending, disjoint, each of whole words. Asked only where `makes_units`.
        """
        ...

    def identity(self) -> dict[str, Any]:
        """What the store's fingerprint must change with."""
        ...
