"""Ranks are fed parts of a step: together the rows that one process is fed, whatever their number."""

import itertools
from dataclasses import replace

import pytest
import torch

from tests.batch import test_groups, test_loader, test_stream
from tests.batch.test_stream import corpus, store  # noqa: F401  (fixtures)


def take(feed, number, position=None, first_step=0):
    steps = feed.steps(position, first_step)
    try:
        return list(itertools.islice(steps, number))
    finally:
        steps.close()


def rows(steps):
    """The rows of each step as tuples: what is shown, what is to be predicted and where; padding left out."""
    out = []
    for step in steps:
        out.append([])
        for batch in step.micro_batches:
            for number in range(len(batch["input_ids"])):
                real = batch["attention_mask"][number] == 1
                keys = ("input_ids", "labels", "token_type_ids", "position_ids", "sequence_ids")
                out[-1].append(tuple(tuple(batch[key][number][real].tolist()) for key in keys))
    return out


def check(make, *, steps):
    """`make(rank=, ranks=)` gives a loader; an epoch must end within the steps."""
    alone = take(make(rank=0, ranks=1), steps)
    assert alone[-1].position["epoch"] >= 1
    for ranks in (2, 3):
        parts = [take(make(rank=rank, ranks=ranks), steps) for rank in range(ranks)]
        for number, wanted in enumerate(rows(alone)):
            # a micro-batch holds its rows shard by shard
            assert sorted(row for part in parts for row in rows([part[number]])[0]) == sorted(wanted)
        for part in parts:
            assert [step.position for step in part] == [step.position for step in alone]
            assert [step.measured["epoch"] for step in part] == [step.measured["epoch"] for step in alone]
        for name in ("labels", "pair_labels", "tokens", "maskable"):
            assert [sum(s.counts[name] for s in together) for together in zip(*parts, strict=True)] == [
                step.counts[name] for step in alone
            ]
    middle = alone[steps // 2]
    resumed = [take(make(rank=rank, ranks=3), 2, middle.position, steps // 2 + 1) for rank in range(3)]
    for number in range(2):
        together = [row for part in resumed for row in rows([part[number]])[0]]
        assert sorted(together) == sorted(rows([alone[steps // 2 + 1 + number]])[0])


@pytest.mark.parametrize("micro_size", [1, 2, 6])
def test_a_store_is_divided(micro_size):
    check(lambda **place: test_loader.loader(batch_size=6, micro_size=micro_size, **place), steps=7)  # 16 rows an epoch


@pytest.mark.parametrize("micro_size", [4, 8, 24])
def test_rows_in_groups_of_like_length_are_divided(micro_size):
    check(lambda **place: test_groups.loader(micro_size=micro_size, group_size=8, **place), steps=31)


def test_a_stream_is_divided(corpus, store):  # noqa: F811
    check(lambda **place: test_stream.loader(corpus, store, batch_size=96, micro_size=32, **place), steps=6)


def test_micro_batches_are_no_larger_than_asked():
    step = take(test_loader.loader(batch_size=6, micro_size=2, rank=1, ranks=2), 1)[0]
    assert [len(batch["input_ids"]) for batch in step.micro_batches] == [2, 1]
    assert replace(step, micro_batches=[]).position == {"epoch": 0, "row": 6, "rows": 6}
    assert torch.is_tensor(step.micro_batches[0]["input_ids"])
