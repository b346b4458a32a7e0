import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.span import SpanMask, span_length_probabilities
from tests.mask.synthetic import IGNORE, examples, one_body, vocabulary, words_of


def span_lengths(batch, units):
    """Length in words of each span, and whether it is the first or the last of its run."""
    words = words_of(batch)
    lengths, firsts, lasts = [], [], []
    for i in np.flatnonzero(units):
        end = i + 1
        while batch.maskable[end] and not units[end]:
            end += 1
        lengths.append(words[end - 1] - words[i] + 1)
        firsts.append(not batch.maskable[i - 1])
        lasts.append(not batch.maskable[end])
    return np.array(lengths), np.array(firsts), np.array(lasts)


def test_the_law_is_spanberts():
    law = span_length_probabilities(p=0.2, max_words=10)
    assert np.allclose(law, [0.224, 0.179, 0.143, 0.115, 0.092, 0.073, 0.059, 0.047, 0.038, 0.030], atol=5e-4)
    assert abs(law @ np.arange(1, 11) - 3.797) < 5e-4
    assert span_length_probabilities(p=1, max_words=4).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(("p", "max_words"), [(0.2, 10), (0.5, 3), (1.0, 10), (0.05, 40)])
def test_lengths_follow_the_law(p, max_words):
    """Chi-square of the spans inside long examples, where no edge cuts them: 0.1 % points are below 3 n + 20."""
    batch = examples([3000] * 20)
    units = SpanMask(vocabulary=vocabulary(), p=p, max_words=max_words)(batch, seed=0, epoch=0).units
    lengths, firsts, lasts = span_lengths(batch, units)
    inner = lengths[~firsts & ~lasts]
    expected = len(inner) * span_length_probabilities(p=p, max_words=max_words)
    observed = np.bincount(inner, minlength=max_words + 1)[1:]
    assert observed.sum() == len(inner)
    assert observed[expected == 0].sum() == 0
    filled = expected > 0
    assert ((observed - expected)[filled] ** 2 / expected[filled]).sum() < 2 * max_words + 15


def test_a_run_begins_somewhere_inside_a_span():
    """The first span of a run has length r with a chance proportional to that of a span of r or more words."""
    batch = examples([80] * 8000)
    lengths, firsts, _ = span_lengths(batch, SpanMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units)
    tail = span_length_probabilities(p=0.2, max_words=10)[::-1].cumsum()[::-1]
    expected = firsts.sum() * tail / tail.sum()
    observed = np.bincount(lengths[firsts], minlength=11)[1:]
    assert ((observed - expected) ** 2 / expected).sum() < 35  # 9 degrees of freedom


def test_boundaries_are_equally_likely_at_every_word():
    """Where a span begins tells nothing of the place in the example: the same chance of 1 / 3.797 after each word."""
    words = 30
    batch = one_body([1] * words, copies=40_000)
    units = SpanMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units.reshape(40_000, -1)
    shares = units.mean(0)[2:-1]
    assert np.abs(shares - 1 / 3.797).max() < 0.011  # 5 standard errors


def test_spans_never_cross_a_special():
    batch = examples([60] * 200, pairs=True)
    units = SpanMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units
    begins = batch.maskable & ~np.r_[False, batch.maskable[:-1]]
    assert units[begins].all()


def test_all_tokens_of_a_span_are_of_one_kind():
    batch = examples([100] * 300, pairs=True)
    masked = SpanMask(vocabulary=vocabulary(), ratio=0.5)(batch, seed=0, epoch=0)
    span = np.cumsum(masked.units)
    chosen = masked.labels != IGNORE
    low, high = np.full(span.max() + 1, 9), np.zeros(span.max() + 1, int)
    np.minimum.at(low, span[chosen], masked.kinds[chosen].astype(int))
    np.maximum.at(high, span[chosen], masked.kinds[chosen].astype(int))
    assert (low[high > 0] == high[high > 0]).all()


def test_at_most_two_spans_of_an_example_are_cut():
    """The one that the window begins in and the one that it ends in; one more when both are the same span."""
    batch = examples([120] * 500)
    masked = SpanMask(vocabulary=vocabulary(), ratio=0.3)(batch, seed=0, epoch=0)
    span = np.cumsum(masked.units)
    chosen = masked.labels != IGNORE
    share = np.bincount(span[batch.maskable], chosen[batch.maskable]) / np.maximum(np.bincount(span[batch.maskable]), 1)
    cut = (share > 0) & (share < 1)
    owner = np.repeat(np.arange(500), np.diff(batch.offsets))[np.flatnonzero(masked.units)]
    assert np.bincount(owner, cut[1:]).max() <= 2


@pytest.mark.parametrize(
    "options", [{"p": 0}, {"p": 1.5}, {"p": "a"}, {"p": float("nan")}, {"max_words": 0}, {"max_words": 2.5}]
)
def test_laws_out_of_range_are_refused(options):
    with pytest.raises(ConfigError, match="write"):
        SpanMask(**options)
