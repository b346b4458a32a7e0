"""Loaders that take turns: whose each step is, every example once an epoch, and going on from anywhere."""

import json
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from ptcli.batch.contract import MEMBER
from ptcli.batch.joint_loader import JointLoader

from .test_task_loader import encoded, loader

SIZES = {"small": 5, "middle": 23, "large": 61}


def joint(steps=None, *, seed=3, batch_size=8, **changes) -> JointLoader:
    members = {
        name: loader(encoded(np.full(size, 5)), batch_size=batch_size, whole_epochs=True, seed=seed, **changes)
        for name, size in SIZES.items()
    }
    steps = steps or {name: member.epoch_steps for name, member in members.items()}
    return JointLoader(members, steps=steps, seed=seed)


def whose(step) -> int:
    (place,) = {batch[MEMBER].shape[1] for batch in step.micro_batches}
    return place


def seen(steps) -> list[tuple[int, int]]:
    """Member and example of everything that steps hold."""
    return [
        (whose(step), number)
        for step in steps
        for batch in step.micro_batches
        for number in batch["example_numbers"].tolist()
    ]


@pytest.mark.parametrize("batch_size", [2, 3, 8, 40, 100])
@pytest.mark.parametrize("changes", [{}, {"group_by_length": True}])
def test_by_size_each_epoch_visits_every_example_of_every_task_once(batch_size, changes):
    made = joint(batch_size=batch_size, **changes)
    steps = made.steps()
    wanted = Counter((place, number) for place, size in enumerate(SIZES.values()) for number in range(size))
    for epoch in range(3):
        found = list(islice(steps, made.epoch_steps))
        assert Counter(seen(found)) == wanted
        assert found[-1].measured["epoch"] == epoch + 1


@pytest.mark.parametrize("batch_size", [2, 3, 8, 40])
def test_the_steps_of_a_task_are_of_nearly_one_size(batch_size):
    made = joint(batch_size=batch_size)
    for place in range(3):
        sizes = [step.counts["examples"] for step in islice(made.steps(), made.epoch_steps) if whose(step) == place]
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= batch_size


def test_an_epoch_has_the_steps_that_it_is_told_in_an_order_of_its_own():
    made = joint({"small": 30, "middle": 50, "large": 20})
    orders = [made.order(epoch) for epoch in range(3)]
    assert all(Counter(order) == {"small": 30, "middle": 50, "large": 20} for order in orders)
    assert orders[0] != orders[1] != orders[2]
    assert orders[0] == joint({"small": 30, "middle": 50, "large": 20}).order(0)
    assert orders[0] != joint({"small": 30, "middle": 50, "large": 20}, seed=4).order(0)


def test_no_task_comes_early_or_late():
    """The first step of 3,000 epochs, and a middle one, against the shares: chi-square, fixed seed."""
    counts = {"small": 3, "middle": 5, "large": 12}
    made = joint(counts)
    orders = [made.order(epoch) for epoch in range(3000)]
    for number in (0, 11, 19):
        found = Counter(order[number] for order in orders)
        expected = [3000 * count / 20 for count in counts.values()]
        statistic = sum((found[name] - want) ** 2 / want for name, want in zip(counts, expected, strict=True))
        assert statistic < 13.8  # two degrees of freedom: 1 in 1,000


def test_a_task_with_no_step_is_never_seen():
    made = joint({"small": 4, "middle": 0, "large": 4})
    assert {whose(step) for step in islice(made.steps(), 16)} == {0, 2}


def test_it_goes_on_from_any_position():
    made = joint({"small": 4, "middle": 3, "large": 5})
    whole = list(islice(made.steps(), 30))
    for at in (1, 7, 12, 25):
        position = json.loads(json.dumps(whole[at - 1].position))
        parts = list(islice(joint({"small": 4, "middle": 3, "large": 5}).steps(position), 30 - at))
        assert seen(parts) == seen(whole[at:])
        assert [step.position for step in parts] == [step.position for step in whole[at:]]
        for one, other in zip(parts, whole[at:], strict=True):
            for a, b in zip(one.micro_batches, other.micro_batches, strict=True):
                assert a.keys() == b.keys()
                assert all(a[key].equal(b[key]) for key in a)


def test_the_rows_of_a_step_are_named_with_their_task():
    made = joint()
    steps = list(islice(made.steps(), 6))
    names = list(SIZES)
    for before, step in zip([None, *(s.position for s in steps)], steps, strict=False):
        told = made.examples(before)
        rows = sorted(number for _, number in seen([step]))
        assert told == f"{names[whose(step)]}: training rows {', '.join(map(str, rows))}"


def test_threads_behind_the_members_end_with_it():
    class Endless:
        closed = False

        def steps(self, position=None, first_step=0):
            try:
                yield from loader().steps(position)
            finally:
                self.closed = True

        def examples(self, position):
            return ""

    member = Endless()
    steps = JointLoader({"only": member}, steps={"only": 2}, seed=1).steps()
    next(steps)
    steps.close()
    assert member.closed
