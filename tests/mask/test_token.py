import numpy as np

from ptcli.mask.token import TokenMask
from tests.mask.synthetic import IGNORE, examples, per_example, vocabulary


def test_every_maskable_token_is_a_unit():
    batch = examples([5, 0, 40], pairs=True)
    assert np.array_equal(TokenMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units, batch.maskable)


def test_fixed_selects_the_same_number_in_every_example_of_a_length():
    for length, expected in ((126, 19), (127, 19), (10, 2), (30, 4), (510, 76)):  # halves to even: 1.5 and 4.5
        masked = TokenMask(vocabulary=vocabulary(), budget="fixed")(examples([length] * 50), seed=0, epoch=0)
        assert (per_example(masked.labels != IGNORE, examples([length] * 50)) == expected).all()


def test_stochastic_round_is_one_of_two_numbers_exact_on_average():
    batch = examples([126] * 20_000)
    counts = per_example(TokenMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).labels != IGNORE, batch)
    assert set(counts) == {18, 19}
    assert abs(counts.mean() - 18.9) < 0.01  # 4.7 standard errors


def test_bernoulli_is_binomial():
    batch = examples([126] * 10_000)
    masked = TokenMask(vocabulary=vocabulary(), budget="bernoulli")(batch, seed=0, epoch=0)
    counts = per_example(masked.labels != IGNORE, batch)
    assert abs(counts.mean() / 126 - 0.15) < 0.001
    assert abs(counts.std() - (126 * 0.15 * 0.85) ** 0.5) < 0.1
