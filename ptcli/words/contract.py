"""What every choice of words is asked."""

from typing import Any, Protocol

import numpy as np

from ptcli.corpus.document import Document


class Words(Protocol):
    """A rule for where words begin and end."""

    needs_gold_words: bool  # a fact for the fit rules: the corpus must know its words

    def check(self) -> None:
        """Raise ConfigError, in well under a second, where a package is missing."""
        ...

    def spans(self, document: Document) -> np.ndarray:
        """Character offsets [start, end) of the words, int32 (n, 2): ascending, disjoint.

        Every character that is not white space is in exactly one word; punctuation marks are words of their own.
        """
        ...

    def identity(self) -> dict[str, Any]:
        """What the store's fingerprint must change with."""
        ...
