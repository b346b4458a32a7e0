"""Figures of facebookresearch/SpanBERT's code."""

import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.spanbert_exact import SpanbertExactMask
from tests.mask.strategies import counts
from tests.mask.synthetic import IGNORE, SIZE, examples, one_body, per_example, vocabulary, words_of


def masked(batch, **options):
    return SpanbertExactMask(vocabulary=vocabulary(), counts=counts(), **options)(batch, seed=0, epoch=0)


@pytest.mark.parametrize("ratio", [0.05, 0.15, 0.5, 1.0])
def test_exactly_so_many_rounded_up(ratio):
    batch = examples(np.random.default_rng(0).integers(1, 200, 400), pairs=True)
    selected = per_example(masked(batch, ratio=ratio).labels != IGNORE, batch)
    assert np.array_equal(selected, np.ceil(ratio * per_example(batch.maskable, batch)))


def runs_of(batch, selected) -> list[np.ndarray]:
    places = np.flatnonzero(selected)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)


def test_runs_are_of_merged_spans_from_word_starts():
    """Runs of 3.9 words on average, and longer than any span; at most one of an example ends inside a word."""
    batch = examples([500] * 400)
    result = masked(batch)
    words, cut, lengths = words_of(batch), np.zeros(400, int), []
    for run in runs_of(batch, result.labels != IGNORE):
        assert words[run[0]] != words[run[0] - 1], "begins with a word"
        cut[run[0] // 502] += words[run[-1]] == words[run[-1] + 1]
        lengths.append(words[run[-1]] - words[run[0]] + 1)
        assert len(set(result.kinds[run])) == 1, "one draw a run"
    assert cut.max() <= 1
    assert 3.5 < np.mean(lengths) < 4.3
    assert max(lengths) > 10


def test_long_words_and_the_middle_are_favoured():
    batch = one_body([1, 1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1], copies=30_000)
    chosen = (masked(batch, p=1.0).labels != IGNORE).reshape(30_000, -1)[:, 1:-1].mean(0)
    assert chosen[2] > 1.2 * chosen[0]
    spans = (masked(one_body([1] * 60, copies=20_000)).labels != IGNORE).reshape(20_000, -1)[:, 1:-1].mean(0)
    assert spans[0] < 0.6 * spans[30], "the edge effect of the code is there"


def test_random_tokens_are_those_of_the_text():
    assert np.allclose(
        SpanbertExactMask(vocabulary=vocabulary(), counts=counts()).unrelated(counts()),
        np.where(vocabulary().special, 0, counts() + 1) / np.where(vocabulary().special, 0, counts() + 1).sum(),
        atol=1e-8,
    )
    assert SpanbertExactMask(vocabulary=vocabulary()).unrelated(np.zeros(SIZE)).max() == pytest.approx(1 / 195)


def test_spans_do_not_cross_a_separator():
    batch = examples([30] * 2000, pairs=True)
    result = masked(batch, ratio=0.4)
    assert not (result.units & ~batch.maskable).any()
    begins = batch.maskable & ~np.r_[False, batch.maskable[:-1]]
    assert result.units[begins].all()


def test_laws_out_of_range_are_refused():
    with pytest.raises(ConfigError, match=r"mask\.p=0"):
        SpanbertExactMask(p=0)
