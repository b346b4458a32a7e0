"""Nothing is masked: for objectives that need no mask."""

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.mask.examples import NOT_SELECTED, Examples, Masked
from ptcli.tokenizer.vocabulary import Vocabulary


class NoMask:
    """Shows every example as it is and scores no position."""

    copies: int | None = None
    shown = (1.0, 0.0, 0.0)

    def __init__(self, *, vocabulary: Vocabulary | None = None, counts: np.ndarray | None = None):
        pass

    def data_epoch(self, epoch: int) -> int:
        """The epoch itself: pairs and packing change in every epoch."""
        return epoch

    def ratio_at(self, step: int | None) -> float:
        """0 at every step."""
        return 0.0

    def unrelated(self, counts: np.ndarray) -> np.ndarray:
        """No position is scored: any law will do."""
        return np.full(counts.shape[0], 1 / max(counts.shape[0], 1))

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int | None = 0) -> Masked:
        """The tokens unchanged, no labels, no units."""
        size = examples.tokens.shape[0]
        return Masked(
            input_ids=np.array(examples.tokens, np.int32),
            labels=np.full(size, IGNORE_INDEX, np.int32),
            kinds=np.full(size, NOT_SELECTED, np.uint8),
            units=np.zeros(size, bool),
        )
