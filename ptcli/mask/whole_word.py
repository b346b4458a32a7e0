"""Words are selected with all their pieces."""

import numpy as np

from ptcli.mask.examples import Examples
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units


class WholeWordMask(MaskStrategy):
    """Every word is a unit (whole word masking; for Chinese: Cui et al., arXiv 1906.08101).

    Differs from Google's code: long words are selected as often as short ones, and all pieces of a word are masked,
    replaced or kept alike (`replace_level=token` draws for each piece, as there).
    """

    needs = frozenset({"words"})

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each word is a unit and an atom."""
        words = word_units(examples)
        return words, words
