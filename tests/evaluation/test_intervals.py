import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.evaluation.intervals import interval


def test_one_document_has_no_interval():
    assert interval(np.ones(5), np.ones(5), np.zeros(5, int)) is None
    assert interval(np.zeros(0), np.zeros(0), np.zeros(0, int)) is None
    assert interval(np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1])) is None


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), documents=st.integers(2, 20))
def test_the_mean_lies_between_and_the_draw_is_the_same_every_time(seed, documents):
    random = np.random.default_rng(seed)
    document = random.integers(0, documents, 500) * 7
    values, weights = random.exponential(size=500), random.integers(1, 9, 500)
    first = interval(values, weights, document, resamples=200)
    assert first == interval(values, weights, document, resamples=200)
    low, high = first
    assert low < high
    assert low - 0.1 < values.sum() / weights.sum() < high + 0.1


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Means of 40 documents around 2, tokens of one document alike: 95 % of intervals hold 2 (300 trials: +- 4)."""
    random = np.random.default_rng(1)
    held = 0
    for _ in range(300):
        sizes = random.integers(5, 30, 40)
        document = np.repeat(np.arange(40), sizes)
        values = np.repeat(2 + random.normal(size=40), sizes) + random.normal(size=sizes.sum())
        low, high = interval(values, np.ones(len(values)), document, resamples=300)
        held += low <= 2 <= high
    assert held / 300 == pytest.approx(0.94, abs=0.04)


def test_documents_are_drawn_not_tokens():
    random = np.random.default_rng(2)
    document = np.repeat(np.arange(20), 100)
    values = np.repeat(random.normal(size=20), 100)
    by_document = interval(values, np.ones(2000), document)
    by_token = interval(values, np.ones(2000), np.arange(2000))
    assert np.diff(by_document) > 4 * np.diff(by_token)
