import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.baselines import no_context_losses, unigram_losses
from ptcli.mask.examples import PERMUTED, Examples
from ptcli.mask.ngram import NgramMask, ngram_length_probabilities
from tests.mask.strategies import counts, make
from tests.mask.synthetic import IGNORE, SIZE, examples, one_body, per_example, vocabulary
from tests.mask.test_span import span_lengths


def test_the_law_is_alberts():
    assert np.allclose(ngram_length_probabilities(max_ngram=3, favor="short"), [6 / 11, 3 / 11, 2 / 11])
    assert np.allclose(ngram_length_probabilities(max_ngram=3, favor="long"), [2 / 11, 3 / 11, 6 / 11])
    assert np.allclose(ngram_length_probabilities(max_ngram=4, favor="uniform"), [0.25] * 4)
    assert ngram_length_probabilities(max_ngram=3, favor="short") @ [1, 2, 3] == pytest.approx(1.636, abs=5e-4)


@pytest.mark.parametrize("favor", ["short", "long", "uniform"])
def test_lengths_follow_the_law(favor):
    """Chi-square of the n-grams inside long examples, where no edge cuts them, at 4 degrees of freedom."""
    batch = examples([3000] * 20)
    units = NgramMask(vocabulary=vocabulary(), max_ngram=5, favor=favor)(batch, seed=0, epoch=0).units
    lengths, firsts, lasts = span_lengths(batch, units)
    inner = lengths[~firsts & ~lasts]
    expected = len(inner) * ngram_length_probabilities(max_ngram=5, favor=favor)
    observed = np.bincount(inner, minlength=6)[1:]
    assert observed.sum() == len(inner)
    assert ((observed - expected) ** 2 / expected).sum() < 25


def test_n_grams_of_one_word_are_words():
    batch = examples([50, 80], pairs=True)
    units = NgramMask(vocabulary=vocabulary(), max_ngram=1)(batch, seed=0, epoch=0).units
    assert np.array_equal(units, make("whole_word")(batch, seed=0, epoch=0).units)


def test_the_second_budget_is_as_large_disjoint_and_shuffled_within_its_example():
    batch = examples(np.random.default_rng(0).integers(100, 300, 400), pairs=True)
    masked = NgramMask(vocabulary=vocabulary(), permute=True, ratio=0.15)(batch, seed=0, epoch=0)
    once = NgramMask(vocabulary=vocabulary(), ratio=0.15)(batch, seed=0, epoch=0)
    second, first = masked.kinds == PERMUTED, once.kinds > 0
    assert np.array_equal(masked.kinds[first], once.kinds[first]), "the first budget is untouched by the second"
    assert not (first & second).any()
    assert abs(second.sum() / batch.maskable.sum() - 0.15) < 0.003
    assert np.array_equal(masked.labels[second], batch.tokens[second])
    for e in range(len(batch.keys)):
        here = np.arange(batch.offsets[e], batch.offsets[e + 1])[second[batch.offsets[e] : batch.offsets[e + 1]]]
        assert sorted(masked.input_ids[here]) == sorted(batch.tokens[here])
    assert np.mean(masked.input_ids[second] == batch.tokens[second]) < 0.1  # 1 / 30 stay, 1 / 200 are alike
    assert not np.array_equal(per_example(second, batch), np.zeros(len(batch.keys)))


def test_permuted_tokens_are_shuffled_evenly():
    """Of four permuted tokens, each comes to lie in each of the four places equally often."""
    batch = one_body([1] * 8, copies=20_000)
    tokens = np.tile(np.r_[8, np.arange(20, 28), 9].astype(np.int32), 20_000)
    batch = Examples(tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    masked = NgramMask(vocabulary=vocabulary(), permute=True, ratio=0.5, max_ngram=1)(batch, seed=0, epoch=0)
    grid, permuted = masked.input_ids.reshape(20_000, -1), (masked.kinds == PERMUTED).reshape(20_000, -1)
    assert (permuted.sum(1) == 4).all()
    places = permuted.argsort(1, kind="stable")[:, -4:]
    rows = np.arange(20_000)[:, None]
    own = np.tile(np.r_[8, np.arange(20, 28), 9], (20_000, 1))[rows, np.sort(places, 1)]
    shown = grid[rows, np.sort(places, 1)]
    came_from = (own[:, None, :] == shown[:, :, None]).argmax(2)
    for place in range(4):
        assert np.abs(np.bincount(came_from[:, place], minlength=4) / 20_000 - 0.25).max() < 0.015


def test_the_context_free_baseline_knows_what_is_permuted():
    """No table P(label | shown), fitted to these very positions, is better by more than its over-fitting."""
    p = counts() / counts().sum()
    batch = one_body([1] * 100, copies=3000)
    tokens = batch.tokens.copy()
    tokens[batch.maskable] = np.random.default_rng(0).choice(SIZE, batch.maskable.sum(), p=p)
    batch = Examples(tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    mask = NgramMask(vocabulary=vocabulary(), counts=counts(), permute=True, ratio=0.3, random_from="corpus")
    masked = mask(batch, seed=0, epoch=0)
    scored = masked.labels != IGNORE
    shown, labels = masked.input_ids[scored], masked.labels[scored]
    known = {"counts": counts(), "vocabulary": vocabulary()}
    losses = no_context_losses(shown, labels, replace=mask.shown, unrelated=mask.unrelated(counts()), **known)
    table = np.zeros((SIZE, SIZE))
    np.add.at(table, (shown, labels), 1)
    best = -np.log((table / np.maximum(table.sum(1, keepdims=True), 1))[shown, labels]).mean()
    assert best < losses.mean() < best + 2 * (table > 0).sum() / len(labels)
    assert losses.mean() < unigram_losses(labels, **known).mean()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_ngram": 0}, "mask.max_ngram=0"),
        ({"max_ngram": 1.5}, "mask.max_ngram=1.5"),
        ({"favor": "middle"}, "short, long, uniform"),
        ({"permute": "yes"}, "true or false"),
        ({"permute": True, "ratio": 0.6}, "at most 0.5"),
        ({"permute": True, "later_ratios": [0.6], "ratio_schedule": "linear"}, "at most 0.5"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError) as error:
        NgramMask(**options)
    assert message in str(error.value)
