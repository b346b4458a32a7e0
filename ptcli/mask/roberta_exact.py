"""Tokens as RoBERTa's code selects and replaces them."""

import numpy as np

from ptcli.mask.exact import ExactMask
from ptcli.mask.examples import Examples
from ptcli.mask.random_ids import RandomIds, uniform_ids
from ptcli.mask.select import take_window
from ptcli.mask.strategy import Streams
from ptcli.mask.units import Partition
from ptcli.randomness import uniforms
from ptcli.tokenizer.vocabulary import Vocabulary


class RobertaExactMask(ExactMask):
    """fairseq (RoBERTa, arXiv 1907.11692): floor(ratio * length + U) positions of all, <s> and </s> among them.

    A special token that is drawn is left alone here, so that a few tokens fewer are scored, as many as there. Random
    tokens are drawn from the vocabulary without its specials, but with the mask token.
    """

    def __init__(
        self,
        *,
        ratio: float = 0.15,
        copies: int | None = None,
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        super().__init__(ratio=ratio, copies=copies, vocabulary=vocabulary, counts=counts)

    def random_ids(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> RandomIds:
        """The ordinary ids and the mask token, all alike."""
        assert vocabulary.mask_token_id is not None, "a vocabulary without one was refused"
        return uniform_ids(np.append(vocabulary.ordinary_ids, vocabulary.mask_token_id))

    def select(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: Streams
    ) -> np.ndarray:
        """So many positions of each example, any of them alike; the special ones among them are given up."""
        lengths = np.diff(examples.offsets)
        draws = uniforms(streams.budget, examples.keys)
        budgets = np.minimum(np.floor(ratio * lengths + draws).astype(np.int64), lengths)
        every = np.ones(examples.tokens.shape[0], bool)
        taken = take_window(every, every, every, partition.ranks, partition.offsets, budgets, anchors, False)
        return taken & examples.maskable
