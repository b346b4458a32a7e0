"""Ratios that change in the course of the training."""

import numpy as np
import pytest

from ptcli.errors import ConfigError
from ptcli.mask.ratio import RatioSchedule
from tests.mask.strategies import KINDS, make
from tests.mask.synthetic import IGNORE, examples


def schedule(ratio, *later, way="linear", steps=1000):
    return RatioSchedule(ratio=ratio, later=later, schedule=way, steps=steps)


def test_linear_goes_straight_from_each_to_the_next():
    falling = schedule(0.3, 0.0)
    assert [falling.at(step) for step in (0, 250, 500, 1000, 5000)] == pytest.approx([0.3, 0.225, 0.15, 0, 0])
    there_and_back = schedule(0.1, 0.5, 0.1)
    assert [there_and_back.at(step) for step in (0, 250, 500, 750, 1000)] == pytest.approx([0.1, 0.3, 0.5, 0.3, 0.1])


def test_cosine_is_half_a_wave():
    falling = schedule(0.3, 0.1, way="cosine")
    steps = np.arange(0, 1001, 50)
    assert [falling.at(int(step)) for step in steps] == pytest.approx(0.2 + 0.1 * np.cos(np.pi * steps / 1000))


def test_steps_stay_and_jump():
    jumping = schedule(0.3, 0.3, 0.3, 0.15, way="steps")
    assert [jumping.at(step) for step in (0, 749, 750, 1000, 9000)] == [0.3, 0.3, 0.15, 0.15, 0.15]


@pytest.mark.parametrize("way", ["linear", "cosine", "steps"])
def test_evaluations_use_the_average_of_all_steps(way):
    one = schedule(0.5, 0.2, 0.1, way=way)
    assert one.at(None) == pytest.approx(np.mean([one.at(step) for step in range(1000)]), abs=1e-3)


def test_a_constant_needs_no_steps():
    constant = RatioSchedule(ratio=0.15, later=(), schedule="constant", steps=None)
    assert constant.constant
    assert constant.at(0) == constant.at(10**9) == constant.at(None) == constant.mean == 0.15


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"schedule": "exponential"}, "constant, linear, cosine, steps"),
        ({"schedule": "linear"}, "mask.later_ratios=[0.15]"),
        ({"later": [0.1]}, "never reached"),
        ({"later": 0.1, "schedule": "linear"}, "write a list"),
        ({"later": [15], "schedule": "linear"}, "write 0.15"),
        ({"later": [-0.1], "schedule": "linear"}, "mask.later_ratios=-0.1"),
        ({"later": ["x"], "schedule": "linear"}, "not a number"),
    ],
)
def test_schedules_that_lead_nowhere_are_refused(given, message):
    with pytest.raises(ConfigError) as error:
        RatioSchedule(**{"ratio": 0.15, "later": [], "schedule": "constant", "steps": 10} | given)
    assert message in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_ratio_of_a_step_is_what_is_masked_in_it(kind):
    batch = examples([200] * 300, seed=1)
    permuted = kind == "ngram permuted"
    later = [0.2] if permuted else [0.4]
    mask = make(kind, ratio=0.1, later_ratios=later, ratio_schedule="linear", schedule_steps=100)
    for step, ratio in ((0, 0.1), (50, 0.25), (100, 0.4), (None, 0.25)):
        assert mask.ratio_at(step) == pytest.approx(ratio)
        selected = mask(batch, seed=0, epoch=0, step=step).labels != IGNORE
        assert selected.sum() / batch.maskable.sum() == pytest.approx(ratio, abs=0.01)
    small, large = (mask(batch, seed=0, epoch=0, step=step).labels != IGNORE for step in (20, 80))
    assert np.mean(large[small]) > 0.99, "the same positions, and more of them"
