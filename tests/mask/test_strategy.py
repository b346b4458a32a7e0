"""What holds for every strategy, budget and ratio."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.mask.budget import BUDGETS
from ptcli.mask.examples import KEPT, MASKED, NOT_SELECTED, RANDOM, Examples
from ptcli.mask.span import SpanMask
from ptcli.mask.token import TokenMask
from ptcli.mask.whole_word import WholeWordMask
from tests.mask.synthetic import IGNORE, MASK, examples, per_example, take, vocabulary, words_of

STRATEGIES = (TokenMask, WholeWordMask, SpanMask)
RATIOS = (0.05, 0.15, 0.3, 0.4, 0.5, 0.65, 0.8)
LENGTHS = np.random.default_rng(5).integers(20, 200, 3000)
MANY = np.random.default_rng(6).integers(20, 200, 10_000)

every = pytest.mark.parametrize("strategy", STRATEGIES)
every_budget = pytest.mark.parametrize("budget", BUDGETS)


@pytest.fixture(scope="module")
def single() -> Examples:
    return examples(LENGTHS)


@pytest.fixture(scope="module")
def paired() -> Examples:
    return examples(LENGTHS, seed=1, pairs=True)


@pytest.fixture(scope="module")
def large() -> list[tuple[Examples, np.ndarray]]:
    """Examples, and the tenth of its example that each maskable position lies in."""
    made = []
    for batch in (examples(MANY, seed=2), examples(MANY, seed=3, pairs=True)):
        lengths = np.diff(batch.offsets)
        inside = np.arange(batch.tokens.shape[0]) - np.repeat(batch.offsets[:-1], lengths)
        made.append((batch, (inside * 10 // np.repeat(lengths, lengths))[batch.maskable]))
    return made


@cache
def short_examples(length: int) -> tuple[Examples, np.ndarray]:
    """Many examples of one length, and the length of the shortest word of each."""
    batch = examples(np.full(20_000, length), seed=length)
    words = words_of(batch)
    word_lengths = np.bincount(words[words >= 0])
    _, first = np.unique(words[words >= 0], return_index=True)
    owner = np.repeat(np.arange(len(batch.keys)), length)[first]
    shortest = np.full(len(batch.keys), length)
    np.minimum.at(shortest, owner, word_lengths)
    return batch, shortest


def selected_by(strategy, batch, *, seed=0, epoch=0, **options) -> np.ndarray:
    return strategy(vocabulary=vocabulary(), **options)(batch, seed=seed, epoch=epoch).labels != IGNORE


@every
@every_budget
@pytest.mark.parametrize("ratio", RATIOS)
def test_measured_share_is_the_one_asked_for_and_flat_over_positions(strategy, budget, ratio, large):
    for batch, tenth in large:
        selected = selected_by(strategy, batch, ratio=ratio, budget=budget)
        maskable = per_example(batch.maskable, batch)
        expected = np.rint(ratio * maskable) if budget == "fixed" else ratio * maskable
        share = selected.sum() / maskable.sum()
        assert abs(share - expected.sum() / maskable.sum()) < 0.006
        assert abs(share - ratio) < 0.01

        tenths = np.bincount(tenth, selected[batch.maskable]) / np.bincount(tenth)
        assert np.abs(tenths - share).max() < 0.01, tenths


@every
@every_budget
@pytest.mark.parametrize("ratio", [0.05, 0.15, 0.4])
@pytest.mark.parametrize("length", [1, 2, 5, 8, 13, 19])
def test_short_examples_meet_the_closed_form(strategy, budget, ratio, length):
    batch, shortest = short_examples(length)
    if strategy is TokenMask:
        shortest = np.ones_like(shortest)
    asked = ratio * length
    if budget == "bernoulli":
        expected = np.maximum(asked, shortest)
    elif budget == "fixed":
        expected = np.maximum(np.rint(asked), shortest)
    else:
        low, part = np.floor(asked), asked - np.floor(asked)
        expected = (1 - part) * np.maximum(low, shortest) + part * np.maximum(low + 1, shortest)
    selected = per_example(selected_by(strategy, batch, ratio=ratio, budget=budget), batch)
    assert selected.min() >= 1
    assert abs(selected.mean() - expected.mean()) < 4.5 * (selected - expected).std() / len(selected) ** 0.5 + 1e-9

    free = per_example(selected_by(strategy, batch, ratio=ratio, budget=budget, at_least_one=False), batch)
    asked = np.rint(asked) if budget == "fixed" else asked
    assert abs(free.mean() - asked) < 4.5 * free.std() / len(free) ** 0.5 + 1e-9


@every
@every_budget
@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.8])
def test_words_are_never_cut(strategy, budget, ratio, paired):
    if strategy is TokenMask:
        pytest.skip("tokens are no words")
    selected = selected_by(strategy, paired, ratio=ratio, budget=budget)
    words = words_of(paired)
    body = words >= 0
    some = np.bincount(words[body], selected[body])
    assert np.isin(some / np.bincount(words[body]), (0, 1)).all()
    assert not selected[~body].any()


@every
@pytest.mark.parametrize("budget", ["stochastic_round", "fixed"])
def test_the_count_leaves_the_budget_by_less_than_a_word(strategy, budget, single):
    selected = per_example(selected_by(strategy, single, ratio=0.4, budget=budget), single)
    asked = 0.4 * per_example(single.maskable, single)
    longest = 1 if strategy is TokenMask else np.bincount(words_of(single)[single.maskable]).max()
    assert (np.abs(selected - asked) < longest).all()


@every
@every_budget
def test_selections_are_nested_over_ratios(strategy, budget, paired):
    sets = [selected_by(strategy, paired, ratio=ratio, budget=budget) for ratio in RATIOS]
    longest = 1 if strategy is TokenMask else np.bincount(words_of(paired)[words_of(paired) >= 0]).max()
    sizes = per_example(paired.maskable, paired)
    for ratio, smaller, larger in zip(RATIOS, sets, sets[1:], strict=False):
        missing = per_example(smaller & ~larger, paired)
        if strategy is TokenMask and budget != "bernoulli":
            assert not missing.any()
            continue
        # Exact wherever the spare (the one token that `at_least_one` guarantees) was not needed, else up to it.
        exact = np.floor(ratio * sizes) >= longest if budget != "bernoulli" else np.zeros(len(sizes), bool)
        assert not missing[exact].any()
        assert missing.max() <= longest
        assert (missing > 0).mean() < 0.4
    free = [selected_by(strategy, paired, ratio=r, budget=budget, at_least_one=False) for r in RATIOS]
    for smaller, larger in pairwise(free):
        assert not (smaller & ~larger).any()


@every
@every_budget
def test_masks_do_not_depend_on_the_batch_an_example_is_in(strategy, budget, paired):
    mask = strategy(vocabulary=vocabulary(), budget=budget, ratio=0.3)
    whole = mask(paired, seed=3, epoch=2)
    order = np.random.default_rng(0).permutation(len(paired.keys))[:400]
    for batch in (order, order[:1], order[100:130]):
        part = mask(take(paired, batch), seed=3, epoch=2)
        places = np.concatenate([np.arange(paired.offsets[e], paired.offsets[e + 1]) for e in batch])
        for name in ("input_ids", "labels", "kinds", "units"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[places])


@every
def test_epochs_seeds_and_copies(strategy, single):
    batch = take(single, range(200))

    def ids(copies, epoch, seed=0, step=0):
        return strategy(vocabulary=vocabulary(), copies=copies)(batch, seed=seed, epoch=epoch, step=step).labels

    assert np.array_equal(ids(None, 0), ids(None, 0, step=5))
    assert not np.array_equal(ids(None, 0), ids(None, 1))
    assert not np.array_equal(ids(None, 0), ids(None, 0, seed=1))
    static = [ids(3, epoch) for epoch in range(6)]
    for epoch in range(3):
        assert np.array_equal(static[epoch], static[epoch + 3])
        assert not np.array_equal(static[epoch], static[(epoch + 1) % 3])
    assert np.array_equal(ids(None, 1), ids(3, 4))
    assert strategy(copies=3).data_epoch(7) == 1
    assert strategy().data_epoch(7) == 7
    assert strategy(ratio=0.3).ratio_at(1000) == 0.3


@every
def test_equal_sentences_get_masks_of_their_own(strategy):
    batch = examples([60])
    twice = Examples(
        tokens=np.tile(batch.tokens, 2),
        offsets=np.array([0, 62, 124]),
        maskable=np.tile(batch.maskable, 2),
        word_starts=np.tile(batch.word_starts, 2),
        keys=np.array([1, 2], np.uint64),
    )
    selected = selected_by(strategy, twice, ratio=0.3)
    assert not np.array_equal(selected[:62], selected[62:])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), max_size=8),
    strategy=st.sampled_from(STRATEGIES),
    budget=st.sampled_from(list(BUDGETS)),
    ratio=st.floats(0.001, 1.0),
    at_least_one=st.booleans(),
    seed=st.integers(0, 5),
)
def test_any_example_is_masked_soundly(rows, strategy, budget, ratio, at_least_one, seed):
    """Examples of any make: empty, only specials, specials in the middle, one token; an empty batch too."""
    maskable = np.array([m for row in rows for m, _ in row], bool)
    batch = Examples(
        tokens=np.where(maskable, 0, 9).astype(np.int32),
        offsets=np.cumsum([0, *map(len, rows)]),
        maskable=maskable,
        word_starts=np.array([w for row in rows for _, w in row], bool),
        keys=np.arange(len(rows), dtype=np.uint64),
    )
    mask = strategy(vocabulary=vocabulary(), budget=budget, ratio=ratio, at_least_one=at_least_one)
    masked = mask(batch, seed=seed, epoch=0)
    selected = masked.labels != IGNORE
    assert masked.input_ids.shape == masked.labels.shape == masked.kinds.shape == masked.units.shape == maskable.shape
    assert not (selected & ~maskable).any()
    assert not (masked.units & ~maskable).any()
    assert np.array_equal(np.where(selected, masked.labels, masked.input_ids), batch.tokens)
    assert np.array_equal(selected, masked.kinds != NOT_SELECTED)
    counts, sizes = per_example(selected, batch), per_example(maskable, batch)
    if at_least_one:
        assert np.array_equal(counts > 0, sizes > 0)
    if ratio == 1.0:
        assert np.array_equal(selected, maskable)
    if strategy is not TokenMask:
        words = words_of(batch)
        body = words >= 0
        shares = np.bincount(words[body], selected[body]) / np.maximum(np.bincount(words[body]), 1)
        assert np.isin(shares, (0, 1)).all()
    if strategy is TokenMask and budget == "stochastic_round":
        assert (counts <= np.maximum(np.floor(ratio * sizes) + 1, 1)).all()


@every
def test_selected_positions_show_what_their_kind_says(strategy, paired):
    mask = strategy(vocabulary=vocabulary(), replace=[0.5, 0.3, 0.2], ratio=0.4)
    before = paired.tokens.copy()
    masked = mask(paired, seed=0, epoch=0)
    assert np.array_equal(paired.tokens, before), "the examples themselves are left alone"
    special = vocabulary().special
    selected = masked.labels != IGNORE
    assert (masked.input_ids[masked.kinds == MASKED] == MASK).all()
    assert (masked.input_ids[masked.kinds == KEPT] == masked.labels[masked.kinds == KEPT]).all()
    assert not special[masked.input_ids[masked.kinds == RANDOM]].any()
    assert not special[masked.labels[selected]].any()
    assert (masked.labels[selected] == 0).any(), "id 0 is ordinary here"
    assert np.array_equal(np.where(selected, masked.labels, masked.input_ids), before)
    shares = [np.mean(masked.kinds[selected] == kind) for kind in (MASKED, RANDOM, KEPT)]
    assert np.abs(np.array(shares) - [0.5, 0.3, 0.2]).max() < 0.01


@every
def test_memory_mapped_arrays_are_taken_as_they_are(strategy, tmp_path):
    batch = take(examples([30, 40]), [0, 1])
    np.save(tmp_path / "tokens.npy", batch.tokens.astype(np.uint16))
    mapped = Examples(
        tokens=np.load(tmp_path / "tokens.npy", mmap_mode="r"),
        offsets=batch.offsets,
        maskable=batch.maskable,
        word_starts=batch.word_starts.astype(np.uint8),
        keys=batch.keys,
    )
    mask = strategy(vocabulary=vocabulary())
    assert np.array_equal(mask(mapped, seed=0, epoch=0).input_ids, mask(batch, seed=0, epoch=0).input_ids)


@every
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": 15}, "mask.ratio=15 means 1500 %; write 0.15"),
        ({"ratio": 1.5}, "mask.ratio=1.5 means 150 %"),
        ({"ratio": 0}, "mask=none"),
        ({"ratio": -0.1}, "write 0.15"),
        ({"ratio": float("nan")}, "write 0.15"),
        ({"ratio": float("inf")}, "mask.ratio=inf"),
        ({"ratio": "15%"}, "not a number"),
        ({"ratio": True}, "not a number"),
        ({"ratio": None}, "not a number"),
        ({"budget": "fix"}, "stochastic_round, fixed, bernoulli"),
        ({"budget": ["fixed"]}, "stochastic_round, fixed, bernoulli"),
        ({"replace_level": "word"}, "token, unit"),
        ({"replace": [0.8, 0.1]}, "three shares"),
        ({"replace": [0.8, 0.1, 0.2]}, "sums to 1.1"),
        ({"replace": [1.2, -0.1, -0.1]}, "three shares"),
        ({"replace": [float("nan"), 0.1, 0.1]}, "three shares"),
        ({"replace": "mask"}, "three shares"),
        ({"copies": 0}, "mask.copies=0"),
        ({"copies": 2.5}, "mask.copies=2.5"),
        ({"copies": True}, "mask.copies=True"),
        ({"at_least_one": "yes"}, "true or false"),
    ],
)
def test_settings_out_of_range_are_refused(strategy, options, message):
    with pytest.raises(ConfigError) as error:
        strategy(**options)
    assert message in str(error.value)


def test_a_vocabulary_without_mask_token_is_refused_only_where_one_is_shown():
    without = vocabulary(mask_token_id=None)
    with pytest.raises(ConfigError, match="the tokenizer has none"):
        TokenMask(vocabulary=without)
    masked = TokenMask(vocabulary=without, replace=[0, 0.5, 0.5])(examples([50]), seed=0, epoch=0)
    assert not (masked.kinds == MASKED).any()


def test_a_vocabulary_without_ordinary_tokens_is_refused():
    with pytest.raises(ConfigError, match="no ordinary tokens"):
        TokenMask(vocabulary=vocabulary(size=12).__class__(3, 0, 1, None, None, None, np.ones(3, bool), None))


def test_a_mask_without_vocabulary_masks_nothing():
    with pytest.raises(AssertionError, match="without a vocabulary"):
        TokenMask()(examples([5]), seed=0, epoch=0)
