"""Words that the corpus brings."""

from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.errors import DataError
from ptcli.words.unicode import pieces_pattern, spans_of
from ptcli.words.units import NO_UNITS

_RULE = 1


class Gold:
    """The words of an already segmented corpus; what lies between them follows words=unicode."""

    needs_gold_words = True
    makes_units = False
    unit_types = ()

    def check(self) -> None:
        """Nothing can be missing: whether the corpus has gold words is a rule between slots."""

    def spans(self, document: Document) -> np.ndarray:
        """The document's gold words, int32 (n, 2). Raises DataError where it has none."""
        words = document.words
        if words is None:
            raise DataError(
                f"words=gold, but {document.source or 'a document'} has no gold words. "
                "Choose words=unicode or words=chinese, or a corpus with words (corpus=builtin_zh)."
            )
        text = document.text
        starts = np.append(words[:, 0], len(text))
        ends = np.insert(words[:, 1], 0, 0)
        if (starts < ends).any():
            raise DataError(f"{document.source or 'a document'}: its gold words overlap or lie outside its text.")
        between = [
            spans_of(pieces_pattern().findall(text[ends[gap] : starts[gap]])) + ends[gap]
            for gap in np.flatnonzero(starts > ends)
            if not text[ends[gap] : starts[gap]].isspace()
        ]
        both = np.concatenate((words, *between))
        return both[np.argsort(both[:, 0], kind="stable")].astype(np.int32)

    def units(self, document: Document) -> np.ndarray:
        """None are named."""
        return NO_UNITS

    def identity(self) -> dict[str, Any]:
        """The rule; the words themselves belong to the corpus."""
        return {"words": "gold", "rule": _RULE}
