"""Figures of google-research/albert's code."""

import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.albert_exact import AlbertExactMask
from tests.mask.synthetic import IGNORE, examples, one_body, per_example, vocabulary, words_of


def selected(batch, **options):
    return AlbertExactMask(vocabulary=vocabulary(), **options)(batch, seed=0, epoch=0).labels != IGNORE


def test_the_budget_is_filled_but_never_exceeded():
    batch = examples([126] * 1000)
    counts = per_example(selected(batch), batch)
    assert counts.max() == 19
    assert counts.mean() > 18.9
    assert per_example(selected(batch, max_predictions=5), batch).max() == 5


@pytest.mark.parametrize("ratio", [0.15, 0.5])
def test_words_are_whole(ratio):
    batch = examples([100] * 500, pairs=True)
    words = words_of(batch)
    body = words >= 0
    shares = np.bincount(words[body], selected(batch, ratio=ratio)[body]) / np.bincount(words[body])
    assert np.isin(shares, (0, 1)).all()


def test_n_grams_of_the_known_lengths():
    """Where n-grams are so few that they neither meet nor are cut, the lengths follow 6/11, 3/11, 2/11."""
    batch = one_body([1] * 3000, copies=400)
    chosen = selected(batch, ratio=0.02).reshape(400, -1)
    starts = chosen & ~np.roll(chosen, 1, axis=1)
    length = np.zeros_like(chosen, int)
    for back in range(3):
        length += np.roll(chosen, -back, axis=1) & starts & (length == back)
    lone = starts & ~np.roll(chosen, -3, axis=1)
    counts = np.bincount(length[lone], minlength=4)[1:]
    assert np.abs(counts / counts.sum() - [6 / 11, 3 / 11, 2 / 11]).max() < 0.04


def test_long_n_grams_suffer_at_high_ratios():
    """Shortened or given up where they do not fit: shorter on average than the law's 1.636."""
    batch = one_body([1] * 126, copies=2000)
    chosen = selected(batch, ratio=0.65).reshape(2000, -1)
    assert abs(chosen.sum() / (2000 * 126) - 83 / 126) < 0.01


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match=r"mask\.max_ngram=0"):
        AlbertExactMask(max_ngram=0)
    with pytest.raises(ConfigError, match="short, long, uniform"):
        AlbertExactMask(favor="none")
    with pytest.raises(ConfigError, match=r"mask\.max_predictions=0"):
        AlbertExactMask(max_predictions=0)
