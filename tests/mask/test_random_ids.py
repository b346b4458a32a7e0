"""Laws of random replacements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.mask.examples import RANDOM
from ptcli.mask.random_ids import corpus_ids, uniform_ids
from ptcli.mask.token import TokenMask
from tests.mask.strategies import counts
from tests.mask.synthetic import SIZE, examples, vocabulary


@given(st.lists(st.integers(0, 10**12), min_size=SIZE, max_size=SIZE))
def test_the_table_holds_the_law_exactly(numbers):
    given = np.array(numbers, np.int64)
    probabilities = corpus_ids(given, vocabulary()).probabilities(SIZE)
    expected = np.where(vocabulary().special, 0, given + 1.0)
    assert np.allclose(probabilities, expected / expected.sum(), atol=1e-9)


def test_all_ids_alike():
    probabilities = uniform_ids(np.array([3, 5, 9])).probabilities(12)
    assert np.flatnonzero(probabilities).tolist() == [3, 5, 9]
    assert probabilities[[3, 5, 9]] == pytest.approx([1 / 3] * 3)


def test_random_tokens_are_as_frequent_as_in_the_text():
    batch = examples([500] * 1000)
    mask = TokenMask(vocabulary=vocabulary(), replace=[0, 1, 0], ratio=0.4, random_from="corpus", counts=counts())
    masked = mask(batch, seed=0, epoch=0)
    drawn = np.bincount(masked.input_ids[masked.kinds == RANDOM], minlength=SIZE)
    law = mask.unrelated(counts())
    ordinary = ~vocabulary().special
    assert drawn[~ordinary].sum() == 0
    expected = drawn.sum() * law[ordinary]
    chi_square, freedom = ((drawn[ordinary] - expected) ** 2 / expected).sum(), ordinary.sum() - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5
