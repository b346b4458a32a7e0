"""What every mask does with one example, and the settings that all share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.mask.examples import KEPT, MASKED, NOT_SELECTED, PERMUTED, RANDOM, Examples
from ptcli.mask.ngram import NgramMask
from ptcli.mask.token import TokenMask
from tests.mask.strategies import KINDS, NOT_WORDS, TOKENS, budgets_of, counts, make
from tests.mask.synthetic import IGNORE, MASK, SIZE, examples, per_example, take, vocabulary, words_of

LENGTHS = np.random.default_rng(5).integers(20, 200, 1000)

every = pytest.mark.parametrize("kind", KINDS)
every_budget = pytest.mark.parametrize(
    ("kind", "budget"), [(kind, budget) for kind in KINDS for budget in budgets_of(kind)]
)


@pytest.fixture(scope="module")
def paired() -> Examples:
    return examples(LENGTHS, seed=1, pairs=True)


@every_budget
def test_masks_do_not_depend_on_the_batch_an_example_is_in(kind, budget, paired):
    mask = make(kind, budget=budget, ratio=0.3)
    whole = mask(paired, seed=3, epoch=2)
    order = np.random.default_rng(0).permutation(len(paired.keys))[:400]
    for batch in (order, order[:1], order[100:130]):
        part = mask(take(paired, batch), seed=3, epoch=2)
        places = np.concatenate([np.arange(paired.offsets[e], paired.offsets[e + 1]) for e in batch])
        for name in ("input_ids", "labels", "kinds", "units"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[places])


@every
def test_epochs_seeds_and_copies(kind, paired):
    batch = take(paired, range(200))

    def ids(copies, epoch, seed=0, step: int | None = 0):
        return make(kind, copies=copies)(batch, seed=seed, epoch=epoch, step=step).labels

    assert np.array_equal(ids(None, 0), ids(None, 0, step=5))
    assert np.array_equal(ids(None, 0), ids(None, 0, step=None))
    assert not np.array_equal(ids(None, 0), ids(None, 1))
    assert not np.array_equal(ids(None, 0), ids(None, 0, seed=1))
    static = [ids(3, epoch) for epoch in range(6)]
    for epoch in range(3):
        assert np.array_equal(static[epoch], static[epoch + 3])
        assert not np.array_equal(static[epoch], static[(epoch + 1) % 3])
    assert np.array_equal(ids(None, 1), ids(3, 4))
    assert make(kind, copies=3).data_epoch(7) == 1
    assert make(kind).data_epoch(7) == 7
    assert make(kind, ratio=0.3).ratio_at(1000) == 0.3
    assert make(kind, ratio=0.3).ratio_at(None) == 0.3


@every
def test_equal_sentences_get_masks_of_their_own(kind):
    batch = examples([60])
    twice = Examples(
        tokens=np.tile(batch.tokens, 2),
        offsets=np.array([0, 62, 124]),
        maskable=np.tile(batch.maskable, 2),
        word_starts=np.tile(batch.word_starts, 2),
        keys=np.array([1, 2], np.uint64),
        columns={name: np.tile(column, 2) for name, column in batch.columns.items()},
    )
    selected = make(kind, ratio=0.3)(twice, seed=0, epoch=0).labels != IGNORE
    assert not np.array_equal(selected[:62], selected[62:])


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 2)), max_size=30), max_size=8
    ),
    chosen=st.sampled_from([(kind, budget) for kind in KINDS for budget in budgets_of(kind)]),
    ratio=st.floats(0.001, 1.0),
    at_least_one=st.booleans(),
    seed=st.integers(0, 5),
)
def test_any_example_is_masked_soundly(rows, chosen, ratio, at_least_one, seed):
    """Examples of any make: empty, only specials, specials in the middle, one token; an empty batch too."""
    kind, budget = chosen
    maskable, word_starts, unit_starts = (np.array([token[i] for row in rows for token in row], bool) for i in range(3))
    batch = Examples(
        tokens=np.where(maskable, 0, 9).astype(np.int32),
        offsets=np.cumsum([0, *map(len, rows)]),
        maskable=maskable,
        word_starts=word_starts,
        keys=np.arange(len(rows), dtype=np.uint64),
        columns={
            "unit_starts": unit_starts & word_starts,
            "unit_types": np.array([token[3] for row in rows for token in row], np.uint8),
        },
    )
    mask = make(kind, budget=budget, ratio=ratio, at_least_one=at_least_one)
    masked = mask(batch, seed=seed, epoch=0)
    selected = masked.labels != IGNORE
    assert masked.input_ids.shape == masked.labels.shape == masked.kinds.shape == masked.units.shape == maskable.shape
    assert not (selected & ~maskable).any()
    assert not (masked.units & ~maskable).any()
    assert np.array_equal(np.where(selected, masked.labels, masked.input_ids), batch.tokens)
    assert np.array_equal(selected, masked.kinds != NOT_SELECTED)
    numbers, sizes = per_example(selected, batch), per_example(maskable, batch)
    if mask.at_least_one:
        assert np.array_equal(numbers > 0, sizes > 0)
    if ratio == 1.0:
        assert np.array_equal(selected, maskable)
    if kind not in NOT_WORDS and kind != "phrase":  # (these named units are not always of whole words)
        words = words_of(batch)
        body = words >= 0
        shares = np.bincount(words[body], selected[body]) / np.maximum(np.bincount(words[body]), 1)
        assert np.isin(shares, (0, 1)).all()
    if kind in TOKENS and budget == "stochastic_round":
        assert (numbers <= np.maximum(np.floor(ratio * sizes) + 1, 1)).all()


@every
def test_selected_positions_show_what_their_kind_says(kind, paired):
    mask = make(kind, replace=[0.5, 0.3, 0.2], ratio=0.4)
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
    first = masked.kinds[selected & (masked.kinds != PERMUTED)]
    shares = [np.mean(first == shown) for shown in (MASKED, RANDOM, KEPT)]
    assert np.abs(np.array(shares) - [0.5, 0.3, 0.2]).max() < 0.02  # whole units share a draw: up to 10,000 of them


@every
def test_memory_mapped_arrays_are_taken_as_they_are(kind, tmp_path):
    batch = take(examples([30, 40]), [0, 1])
    np.save(tmp_path / "tokens.npy", batch.tokens.astype(np.uint16))
    mapped = Examples(
        tokens=np.load(tmp_path / "tokens.npy", mmap_mode="r"),
        offsets=batch.offsets,
        maskable=batch.maskable,
        word_starts=batch.word_starts.astype(np.uint8),
        keys=batch.keys,
        columns=batch.columns,
    )
    mask = make(kind)
    assert np.array_equal(mask(mapped, seed=0, epoch=0).input_ids, mask(batch, seed=0, epoch=0).input_ids)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": 15}, "mask.ratio=15 means 1500 %; write 0.15"),
        ({"ratio": 1.5}, "mask.ratio=1.5 means 150 %"),
        ({"ratio": 0}, "write 0.15"),
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
        ({"random_from": "vocabulary"}, "ordinary, corpus"),
        ({"never": "the"}, "write a list"),
        ({"never": [-1]}, "write a list"),
        ({"never": [True]}, "write a list"),
        ({"never": [500], "vocabulary": vocabulary()}, "500 is no id"),
        ({"never": ["the"], "vocabulary": vocabulary()}, "'the' is a token"),
        ({"never": list(range(SIZE)), "vocabulary": vocabulary()}, "every ordinary token"),
        ({"random_from": "corpus", "vocabulary": vocabulary()}, "needs the counts"),
        ({"schedule_steps": 100}, "does nothing"),
    ],
)
def test_settings_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError) as error:
        NgramMask(**options)
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


@every
def test_what_is_never_selected_is_not_drawn_and_not_counted(kind, paired):
    never = [int(i) for i in vocabulary().ordinary_ids[:40]]
    mask = make(kind, ratio=0.4, never=never, replace=[0, 1, 0])
    masked = mask(paired, seed=0, epoch=0)
    selected = masked.labels != IGNORE
    left = paired.maskable & ~np.isin(paired.tokens, never)
    assert not selected[~left].any()
    assert not np.isin(masked.input_ids[masked.kinds == RANDOM], never).any()
    assert abs(selected.sum() / left.sum() - 0.4) < 0.01
    assert mask.unrelated(counts())[never].max() == 0
