"""Tokens are selected one by one."""

import numpy as np

from ptcli.mask.examples import Examples
from ptcli.mask.strategy import MaskStrategy


class TokenMask(MaskStrategy):
    """Every token is a unit: BERT (arXiv 1810.04805); a new mask in every epoch: RoBERTa (arXiv 1907.11692)."""

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each maskable position is a unit and an atom."""
        return examples.maskable, examples.maskable
