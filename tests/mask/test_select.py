"""The selection itself: the same chance for every atom of any partition, in full numbers."""

import numpy as np
import pytest

from ptcli.mask.select import take_coins, take_window
from ptcli.mask.units import ranks_of
from tests.mask.synthetic import one_body, per_example

WORDS = (1, 1, 3, 1, 2, 1, 1, 4, 1, 2, 1, 1, 1)
SIZE = sum(WORDS)
COPIES = 60_000


def laid_out(units_of_words):
    """The partition of WORDS into units of so many words each, for COPIES examples: batch, units, atoms, ranks."""
    assert sum(units_of_words) == len(WORDS)
    batch = one_body(WORDS, copies=COPIES)
    atoms = batch.word_starts & batch.maskable
    row = np.zeros(SIZE + 2, bool)
    row[1 + np.cumsum([0, *WORDS])[np.cumsum([0, *units_of_words])[:-1]]] = True
    return batch, np.tile(row, COPIES), atoms, ranks_of(np.uint64(1), batch.keys, batch.offsets)


PARTITIONS = {
    "words": (1,) * len(WORDS),
    "even": (2, 3, 2, 3, 3),
    "one long unit": (1, 1, 9, 1, 1),
    "short edges": (1, 5, 5, 1, 1),
    "one unit": (len(WORDS),),
}


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8, 13, 17, 19, 20])
def test_every_word_is_taken_as_often_as_any_other(partition, budget):
    batch, units, atoms, ranks = laid_out(PARTITIONS[partition])
    anchors = np.random.default_rng(budget).random(COPIES)
    budgets = np.full(COPIES, budget)
    taken = take_window(units, atoms, batch.maskable, ranks, batch.offsets, budgets, anchors, False)
    shares = taken.reshape(COPIES, -1).mean(0)[1:-1]
    error = (budget / SIZE * (1 - budget / SIZE) / COPIES) ** 0.5
    assert np.abs(shares - budget / SIZE).max() < 4.5 * error + 1e-12

    counts = per_example(taken, batch)
    assert np.abs(counts - budget).max() < max(WORDS)
    if budget == SIZE:
        assert taken[batch.maskable].all()


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("budget", [0, 1, 2, 3])
def test_the_spare_keeps_the_mean_and_every_word_its_chance(partition, budget):
    """Words of 4 tokens exceed these budgets, so that a window could be empty. Every word is taken as often as any
    other from the mean length of a word on, 20 / 13 tokens."""
    batch, units, atoms, ranks = laid_out(PARTITIONS[partition])
    anchors = np.random.default_rng(budget).random(COPIES)
    budgets = np.full(COPIES, budget)
    taken = take_window(units, atoms, batch.maskable, ranks, batch.offsets, budgets, anchors, True)
    counts = per_example(taken, batch)
    assert counts.min() >= 1
    assert abs(counts.mean() - max(budget, 1)) < 4.5 * counts.std() / COPIES**0.5 + 1e-12
    if budget >= SIZE / len(WORDS):
        error = (budget / SIZE * (1 - budget / SIZE) / COPIES) ** 0.5
        assert np.abs(taken.reshape(COPIES, -1).mean(0)[1:-1] - budget / SIZE).max() < 4.5 * error


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("ratio", [0.01, 0.05, 0.1, 0.15, 0.4, 0.8, 1.0])
def test_coins_keep_the_mean_with_the_spare(partition, ratio):
    batch, units, atoms, ranks = laid_out(PARTITIONS[partition])
    counts = per_example(take_coins(units, atoms, batch.maskable, ranks, batch.offsets, ratio, True), batch)
    assert counts.min() >= 1
    assert abs(counts.mean() - max(ratio * SIZE, 1)) < 4.5 * counts.std() / COPIES**0.5 + 1e-5
    free = per_example(take_coins(units, atoms, batch.maskable, ranks, batch.offsets, ratio, False), batch)
    assert abs(free.mean() - ratio * SIZE) < 4.5 * free.std() / COPIES**0.5 + 1e-12


def test_an_example_without_a_short_word_takes_its_shortest():
    batch = one_body((4, 3, 5), copies=500)
    atoms = batch.word_starts & batch.maskable
    ranks = ranks_of(np.uint64(1), batch.keys, batch.offsets)
    for budget in (0, 1, 2):
        taken = take_window(
            atoms, atoms, batch.maskable, ranks, batch.offsets, np.full(500, budget), np.full(500, 0.5), True
        )
        assert (np.flatnonzero(taken.reshape(500, -1).any(0)) == [5, 6, 7]).all()


def test_ranks_that_are_far_from_uniform_still_select_in_their_order():
    """A strategy may weight its ranks; then the buckets are uneven, and the order is the same."""
    batch = one_body((1,) * 40, copies=200)
    atoms = batch.word_starts & batch.maskable
    ranks = np.tile(np.arange(42, dtype=np.uint64)[::-1], 200)
    anchors = np.random.default_rng(0).random(200)
    taken = take_window(atoms, atoms, batch.maskable, ranks, batch.offsets, np.full(200, 10), anchors, True)
    taken = taken.reshape(200, -1)
    assert (taken.sum(1) == 10).all()
    assert taken[:, 32:41].all(), "the nine (or ten) of the smallest rank, and the anchor"
