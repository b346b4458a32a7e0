import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.batch.groups import LengthGroups
from ptcli.batch.loader import Loader
from ptcli.packing.lines import Lines
from ptcli.pair.none import NoPair
from ptcli.store.documents import Documents
from tests.batch.fakes import CLS, SEP, EveryThird, Shard, vocabulary

LENGTHS = np.random.default_rng(0).integers(1, 100, 100_000)


def groups(num_rows, size, key=1):
    return LengthGroups(num_rows=num_rows, size=size, key=np.uint64(key), lengths_of=lambda rows: LENGTHS[rows])


@settings(deadline=None)
@given(st.integers(0, 3000), st.integers(1, 20), st.lists(st.integers(1, 400), max_size=12))
def test_any_part_is_the_part_of_an_order_that_holds_every_row_once(num_rows, size, steps):
    order = groups(num_rows, size).rows(0, num_rows)
    assert sorted(order.tolist()) == list(range(num_rows))
    fresh, at = groups(num_rows, size), 0
    for step in steps:
        stop = min(at + step, num_rows)
        assert np.array_equal(fresh.rows(at, stop), order[at:stop])
        at = stop


def test_rows_of_a_group_are_of_like_length_and_groups_come_in_no_order_of_length():
    order = groups(9990, 32).rows(0, 9990)
    lengths = LENGTHS[order[: 312 * 32]].reshape(312, 32)
    assert np.ptp(lengths, axis=1).mean() < 3
    means = lengths.mean(axis=1)
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.15
    assert len(order[312 * 32 :]) == 6  # what fills no group comes last


def test_another_key_is_another_order():
    assert not np.array_equal(groups(500, 8).rows(0, 500), groups(500, 8, key=2).rows(0, 500))


def test_places_left_in_a_group():
    order = groups(20, 8)
    assert [order.left(place) for place in (0, 1, 7, 8, 16, 19)] == [8, 7, 1, 8, 4, 1]


def loader(**changes):
    """One document of drawn length a row, in two shards."""
    documents = []
    for shard, count in enumerate((500, 203)):
        offsets = np.concatenate([[0], np.cumsum(LENGTHS[:count] % 60 + 1)])
        documents.append(Documents(shard, offsets, np.stack([np.arange(count), np.arange(1, count + 1)], 1)))
    arguments = {
        "shards": [Shard(int(d.sentence_offsets[-1])) for d in documents],
        "documents": documents,
        "packing": Lines(),
        "pair": NoPair(),
        "mask": EveryThird(),
        "vocabulary": vocabulary(70_000),
        "max_length": 64,
        "batch_size": 24,
        "micro_size": 8,
        "seed": 0,
        "group_by_length": True,
    }
    return Loader(**{**arguments, **changes})


def take(feed, n, position=None, first_step=0):
    return list(itertools.islice(feed.steps(position, first_step), n))


def tokens(steps):
    out = []
    for batch in (b for step in steps for b in step.micro_batches):
        ids = torch.where(batch["labels"] >= 0, batch["labels"], batch["input_ids"])
        out += ids[(batch["attention_mask"] == 1) & ~torch.isin(ids, torch.tensor([CLS, SEP]))].tolist()
    return sorted(out)


def test_every_row_once_an_epoch_and_steps_of_their_size_across_its_end():
    steps = take(loader(), 60)  # 703 rows: an epoch ends in step 30, and another in step 59
    assert all(sum(len(b["input_ids"]) for b in step.micro_batches) == 24 for step in steps)
    assert tokens(take(loader(batch_size=703, micro_size=8), 2)) == sorted(2 * tokens(take(loader(batch_size=703), 1)))
    assert steps[29].position["epoch"] == 1
    rows = [batch["attention_mask"].sum(1) for step in steps for batch in step.micro_batches]
    assert np.mean([int(row.max() - row.min()) for row in rows]) < 4


def test_less_is_padding():
    def fill(steps):
        return np.mean([step.measured["fill"] for step in steps])

    assert fill(take(loader(), 29)) > 0.85
    assert fill(take(loader(group_by_length=False), 29)) < 0.65


@pytest.mark.parametrize("stop", [1, 7, 30, 33])
def test_a_resumed_loader_goes_on_where_the_other_stood(stop):
    straight = take(loader(), 40)
    resumed = take(loader(), 40 - stop, straight[stop - 1].position, stop)
    for a, b in zip(straight[stop:], resumed, strict=True):
        assert a.position == b.position
        assert all(
            torch.equal(x[key], y[key]) for x, y in zip(a.micro_batches, b.micro_batches, strict=True) for key in x
        )
