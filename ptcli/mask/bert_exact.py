"""Tokens as BERT's code selects and replaces them."""

import numpy as np

from ptcli.mask.exact import ExactMask
from ptcli.mask.examples import Examples
from ptcli.mask.random_ids import RandomIds, uniform_ids
from ptcli.mask.select import take_window
from ptcli.mask.strategy import Streams
from ptcli.mask.units import Partition
from ptcli.tokenizer.vocabulary import Vocabulary


class BertExactMask(ExactMask):
    """google-research/bert (arXiv 1810.04805): round(ratio * length) tokens, [CLS] and [SEP] counted in the length.

    Random tokens are drawn from the whole vocabulary, special and unused ones included. BERT's data held ten copies.
    """

    def __init__(
        self,
        *,
        ratio: float = 0.15,
        max_predictions: int | None = None,
        copies: int | None = 10,
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        super().__init__(
            ratio=ratio, max_predictions=max_predictions, copies=copies, vocabulary=vocabulary, counts=counts
        )

    def random_ids(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> RandomIds:
        return uniform_ids(np.arange(vocabulary.size))

    def select(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: Streams
    ) -> np.ndarray:
        """So many tokens of each example, any of them alike."""
        budgets = self.rounded_budgets(examples, ratio)
        cut = partition.units, partition.atoms, partition.maskable, partition.ranks, partition.offsets
        return take_window(*cut, budgets, anchors, False)
