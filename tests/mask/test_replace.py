"""What is shown at selected positions."""

import numpy as np
import pytest

from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.mask.token import TokenMask
from tests.mask.synthetic import IGNORE, examples, vocabulary


@pytest.mark.parametrize("replace", [[0.8, 0.1, 0.1], [1, 0, 0], [0, 0.5, 0.5], [0, 0, 1], [0.35, 0.65, 0]])
def test_shares_are_those_asked_for(replace):
    batch = examples([500] * 1000)
    masked = TokenMask(vocabulary=vocabulary(), replace=replace, ratio=0.4)(batch, seed=0, epoch=0)
    kinds = masked.kinds[masked.labels != IGNORE]
    shares = np.array([np.mean(kinds == kind) for kind in (MASKED, RANDOM, KEPT)])
    assert np.abs(shares - replace).max() < 0.005
    assert (shares[np.array(replace) == 0] == 0).all()


def test_random_ids_are_uniform_over_ordinary_ones():
    batch = examples([500] * 1000)
    masked = TokenMask(vocabulary=vocabulary(), replace=[0, 1, 0], ratio=0.4)(batch, seed=0, epoch=0)
    drawn = np.bincount(masked.input_ids[masked.kinds == RANDOM], minlength=200)
    special = vocabulary().special
    assert (drawn[special] == 0).all()
    assert (drawn[~special] > 0).all(), "the first and the last id among them"
    expected = drawn.sum() / (~special).sum()
    chi_square, freedom = ((drawn[~special] - expected) ** 2 / expected).sum(), (~special).sum() - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5


def test_kind_and_id_are_drawn_independently_of_the_place():
    batch = examples([100] * 20_000)
    masked = TokenMask(vocabulary=vocabulary(), replace=[0.5, 0.5, 0], ratio=0.5)(batch, seed=0, epoch=0)
    grid = lambda values: values.reshape(20_000, -1)[:, 1:-1]  # noqa: E731
    chosen, random = grid(masked.labels != IGNORE), grid(masked.kinds == RANDOM)
    assert np.abs(random.sum(0) / chosen.sum(0) - 0.5).max() < 0.025  # 5 standard errors


def test_a_smaller_ratio_shows_the_same_at_the_positions_it_shares():
    batch = examples([100] * 200)
    small, large = (TokenMask(vocabulary=vocabulary(), ratio=r)(batch, seed=0, epoch=0) for r in (0.15, 0.4))
    chosen = small.labels != IGNORE
    assert np.array_equal(small.input_ids[chosen], large.input_ids[chosen])
