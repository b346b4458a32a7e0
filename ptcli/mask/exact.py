"""What the masks that follow a paper's code to the letter share: few settings, and a selection of their own."""

from collections.abc import Sequence

import numpy as np

from ptcli.mask.examples import Examples
from ptcli.mask.settings import checked_whole
from ptcli.mask.strategy import MaskStrategy
from ptcli.tokenizer.vocabulary import Vocabulary


class ExactMask(MaskStrategy):
    """A mask whose selection and replacement are those of published code, for parity with what was trained by it.

    The law is reproduced, not the random numbers. Unlike there, special and unknown tokens are never scored and no
    n-gram or span crosses one. The measured share may leave `ratio`: that is what is reproduced.

    Args:
        ratio: the share that the code is given, in (0, 1].
        max_predictions: most tokens of an example that are selected; None for no such limit.
        copies, replace, replace_level, vocabulary, counts: as in MaskStrategy.
    """

    def __init__(
        self,
        *,
        ratio: float,
        max_predictions: int | None = None,
        copies: int | None = None,
        replace: Sequence[float] = (0.8, 0.1, 0.1),
        replace_level: str = "token",
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        if max_predictions is not None:
            checked_whole("mask.max_predictions", max_predictions, "the most tokens of an example, or null")
        self.max_predictions = max_predictions
        super().__init__(
            ratio=ratio,
            copies=copies,
            replace=replace,
            replace_level=replace_level,
            vocabulary=vocabulary,
            counts=counts,
        )

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each token is a unit."""
        return examples.maskable, examples.maskable

    def rounded_budgets(self, examples: Examples, ratio: float) -> np.ndarray:
        """round(ratio * length), special tokens counted, halves to even, from 1 to `max_predictions`: int64 (E,)."""
        budgets = np.maximum(np.rint(ratio * np.diff(examples.offsets)).astype(np.int64), 1)
        return budgets if self.max_predictions is None else np.minimum(budgets, self.max_predictions)
