"""Figures of fairseq's code."""

import numpy as np

from ptcli.mask.examples import RANDOM
from ptcli.mask.roberta_exact import RobertaExactMask
from tests.mask.synthetic import IGNORE, MASK, examples, per_example, vocabulary


def test_positions_are_drawn_of_all_and_special_ones_given_up():
    """k = floor(0.15 * 128 + U) of 128 positions, of which 126 can be scored: 18.9 on average."""
    batch = examples([126] * 20_000)
    counts = per_example(RobertaExactMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).labels != IGNORE, batch)
    assert counts.max() == 20
    assert counts.min() >= 17
    assert abs(counts.mean() - 0.15 * 128 * 126 / 128) < 0.02
    short = examples([3] * 20_000)
    counts = per_example(RobertaExactMask(vocabulary=vocabulary())(short, seed=0, epoch=0).labels != IGNORE, short)
    assert (counts == 0).mean() > 0.5, "an example may have none"


def test_random_tokens_may_be_the_mask_token_but_no_other_special_one():
    batch = examples([500] * 400)
    masked = RobertaExactMask(vocabulary=vocabulary(), ratio=0.5)(batch, seed=0, epoch=0)
    drawn = np.bincount(masked.input_ids[masked.kinds == RANDOM], minlength=200)
    special = vocabulary().special.copy()
    assert drawn[MASK] > 0
    special[MASK] = False
    assert drawn[special].sum() == 0
    assert (drawn[~special] > 0).all()
