"""What holds for the selection of every kind of mask, budget and ratio."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from ptcli.batch.collate import Gathered, lay_out
from ptcli.mask.examples import Examples
from tests.mask.strategies import KINDS, NOT_WORDS, TOKENS, atoms_of, budgets_of, make
from tests.mask.synthetic import IGNORE, PAD, examples, per_example, vocabulary, words_of

RATIOS = (0.05, 0.15, 0.3, 0.4, 0.5, 0.65, 0.8)
LENGTHS = np.random.default_rng(5).integers(20, 200, 1500)
MANY = np.random.default_rng(6).integers(20, 200, 10_000)
LONG_UNITS = ("span", "span whole", "ngram", "ngram long", "ngram permuted")  # a selection of few units: more noise

every = pytest.mark.parametrize("kind", KINDS)
every_budget = pytest.mark.parametrize(
    ("kind", "budget"), [(kind, budget) for kind in KINDS for budget in budgets_of(kind)]
)


@pytest.fixture(scope="module")
def paired() -> Examples:
    return examples(LENGTHS, seed=1, pairs=True)


@cache
def large(kind: str) -> list[tuple[Examples, np.ndarray]]:
    """Single and paired examples, and the tenth of its example that each maskable position lies in."""
    return [_with_tenths(len(MANY) if kind in LONG_UNITS else len(MANY) // 2, pairs) for pairs in (False, True)]


@cache
def _with_tenths(number: int, pairs: bool) -> tuple[Examples, np.ndarray]:
    batch = examples(MANY[:number], seed=3 if pairs else 2, pairs=pairs)
    lengths = np.diff(batch.offsets)
    inside = np.arange(batch.tokens.shape[0]) - np.repeat(batch.offsets[:-1], lengths)
    return batch, (inside * 10 // np.repeat(lengths, lengths))[batch.maskable]


@cache
def short_examples(length: int) -> Examples:
    """Many examples of one length."""
    return examples(np.full(6000, length), seed=length)


def selected_by(kind, batch, **options) -> np.ndarray:
    return make(kind, **options)(batch, seed=0, epoch=0).labels != IGNORE


@every_budget
def test_measured_share_is_the_one_asked_for_and_flat_over_positions(kind, budget):
    # Permuted, each half of a small budget gets its one token where at_least_one is on: 0.5 points at 0.05.
    permuted = kind == "ngram permuted"
    for batch, tenth in large(kind):
        maskable = per_example(batch.maskable, batch)
        sizes = np.bincount(tenth)
        for ratio in RATIOS:
            selected = selected_by(kind, batch, ratio=ratio, budget=budget)
            share = selected.sum() / maskable.sum()
            expected = np.rint(ratio * maskable) if budget == "fixed" and not permuted else ratio * maskable
            assert abs(share - expected.sum() / maskable.sum()) < 0.006, ratio
            assert abs(share - ratio) < 0.01, ratio
            tenths = np.bincount(tenth, selected[batch.maskable]) / sizes
            assert np.abs(tenths - share).max() < 0.011, (ratio, tenths)


@every_budget
@pytest.mark.parametrize("ratio", [0.05, 0.4])
@pytest.mark.parametrize("length", [1, 2, 5, 13])
def test_short_examples_meet_the_closed_form(kind, budget, ratio, length):
    batch, mask = short_examples(length), make(kind, ratio=ratio, budget=budget)
    free = per_example(selected_by(kind, batch, ratio=ratio, budget=budget, at_least_one=False), batch)
    if kind == "ngram permuted":
        assert abs(free.mean() - ratio * length) < 4.5 * free.std() / len(free) ** 0.5 + 0.5 * (budget == "fixed")
        return
    asked = ratio * length
    rounded = np.rint(asked) if budget == "fixed" else asked
    assert abs(free.mean() - rounded) < 4.5 * free.std() / len(free) ** 0.5 + 1e-9
    if kind == "span whole":  # which has no at_least_one
        return
    atoms = atoms_of(mask, batch)
    shortest = np.full(len(batch.keys), length)
    np.minimum.at(shortest, atoms[:, 1], atoms[:, 0])
    if budget == "bernoulli":
        expected = np.maximum(asked, shortest)
    elif budget == "fixed":
        expected = np.maximum(np.rint(asked), shortest)
    else:
        low, part = np.floor(asked), asked - np.floor(asked)
        expected = (1 - part) * np.maximum(low, shortest) + part * np.maximum(low + 1, shortest)
    selected = per_example(mask(batch, seed=0, epoch=0).labels != IGNORE, batch)
    assert selected.min() >= 1
    assert abs(selected.mean() - expected.mean()) < 4.5 * (selected - expected).std() / len(selected) ** 0.5 + 1e-9


@every_budget
@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.8])
def test_words_are_never_cut(kind, budget, ratio, paired):
    if kind in NOT_WORDS:
        pytest.skip("tokens are no words")
    selected = selected_by(kind, paired, ratio=ratio, budget=budget)
    words = words_of(paired)
    body = words >= 0
    some = np.bincount(words[body], selected[body])
    assert np.isin(some / np.bincount(words[body]), (0, 1)).all()
    assert not selected[~body].any()


@pytest.mark.parametrize("kind", ["span whole", "phrase", "phrase token", "pmi"])
def test_units_that_are_atoms_are_never_cut(kind, paired):
    masked = make(kind, ratio=0.4)(paired, seed=0, epoch=0)
    unit = np.cumsum(masked.units)[paired.maskable]
    shares = np.bincount(unit, (masked.labels != IGNORE)[paired.maskable])[1:] / np.bincount(unit)[1:]
    assert np.isin(shares, (0, 1)).all()


@every
@pytest.mark.parametrize("budget", ["stochastic_round", "fixed"])
def test_the_count_leaves_the_budget_by_less_than_an_atom(kind, budget, paired):
    mask = make(kind, ratio=0.4, budget=budget)
    selected = per_example(mask(paired, seed=0, epoch=0).labels != IGNORE, paired)
    asked = 0.4 * per_example(paired.maskable, paired)
    longest = atoms_of(mask, paired)[:, 0].max()
    assert (np.abs(selected - asked) < longest * (2 if kind == "ngram permuted" else 1)).all()


@every_budget
def test_selections_are_nested_over_ratios(kind, budget, paired):
    free = [selected_by(kind, paired, ratio=r, budget=budget, at_least_one=False) for r in RATIOS]
    for smaller, larger in pairwise(free):
        assert not (smaller & ~larger).any()
    if kind == "ngram permuted":
        return
    sets = [selected_by(kind, paired, ratio=ratio, budget=budget) for ratio in RATIOS]
    longest = atoms_of(make(kind), paired)[:, 0].max()
    sizes = per_example(paired.maskable, paired)
    for ratio, smaller, larger in zip(RATIOS, sets, sets[1:], strict=False):
        missing = per_example(smaller & ~larger, paired)
        if kind in TOKENS and budget != "bernoulli":
            assert not missing.any()
            continue
        # Exact wherever the spare (the one atom that `at_least_one` guarantees) was not needed, else up to it.
        exact = np.floor(ratio * sizes) >= longest if budget != "bernoulli" else np.zeros(len(sizes), bool)
        assert not missing[exact].any()
        assert missing.max() <= longest
        assert (missing > 0).mean() < 0.4


@every
def test_rows_packed_or_padded_hold_the_same_and_no_special_is_scored(kind):
    batch = examples(np.random.default_rng(1).integers(1, 40, 60), seed=4, pairs=True)
    masked = make(kind, ratio=0.3)(batch, seed=0, epoch=0)
    number = len(batch.keys)
    laid_out = []
    for rows in (np.arange(number), np.arange(number) // 4):
        whole = batch.with_columns(segments=np.zeros(len(batch.tokens), np.uint8))
        gathered = Gathered(whole, rows, int(rows[-1]) + 1, {"pair_labels": np.full(number, IGNORE)})
        laid_out.append(lay_out(gathered, masked, pad_token_id=PAD, length=200))
    special = vocabulary().special
    for arrays in laid_out:
        scored = arrays["labels"] != IGNORE
        assert not scored[arrays["attention_mask"] == 0].any()
        assert not special[arrays["labels"][scored]].any()
    padded, packed = (arrays["labels"][arrays["attention_mask"] == 1] for arrays in laid_out)
    assert np.array_equal(padded, packed)
