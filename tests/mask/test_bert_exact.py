"""Figures of google-research/bert's code."""

import numpy as np

from ptcli.mask.bert_exact import BertExactMask
from ptcli.mask.examples import KEPT, MASKED, RANDOM
from tests.mask.synthetic import IGNORE, SIZE, examples, per_example, vocabulary


def number(length: int, **options) -> set[int]:
    """How many tokens of examples with `length` positions, special ones included, are selected."""
    batch = examples([length - 2] * 50)
    masked = BertExactMask(vocabulary=vocabulary(), **options)(batch, seed=0, epoch=0)
    return set(per_example(masked.labels != IGNORE, batch).tolist())


def test_the_number_counts_the_special_tokens_in_the_length():
    assert number(128) == {19}
    assert number(512) == {77}
    assert number(512, max_predictions=20) == {20}
    assert number(3) == {1}
    assert number(10) == {2}, "1.5, to even"
    assert number(30) == {4}, "4.5, to even"


def test_each_token_is_replaced_by_itself_from_the_whole_vocabulary():
    batch = examples([500] * 500)
    masked = BertExactMask(vocabulary=vocabulary(), ratio=0.4)(batch, seed=0, epoch=0)
    kinds = masked.kinds[masked.labels != IGNORE]
    assert np.abs([np.mean(kinds == kind) for kind in (MASKED, RANDOM, KEPT)] - np.array([0.8, 0.1, 0.1])).max() < 0.005
    drawn = np.bincount(masked.input_ids[masked.kinds == RANDOM], minlength=SIZE)
    expected = drawn.sum() / SIZE
    assert ((drawn - expected) ** 2 / expected).sum() < SIZE + 4 * (2 * SIZE) ** 0.5, "special ids among them"
    assert not vocabulary().special[masked.labels[masked.labels != IGNORE]].any()


def test_every_token_is_selected_alike_and_ten_copies_repeat():
    batch = examples([40] * 20_000)
    mask = BertExactMask(vocabulary=vocabulary())
    chosen = (mask(batch, seed=0, epoch=0).labels != IGNORE).reshape(20_000, -1)[:, 1:-1]
    assert np.abs(chosen.mean(0) - 6 / 40).max() < 0.012
    assert mask.data_epoch(13) == 3
