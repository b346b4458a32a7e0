from pathlib import Path

import pytest
import torch
import yaml
from transformers import get_linear_schedule_with_warmup

from ptcli.errors import ConfigError
from ptcli.schedule.linear import Linear


def factors(schedule, total):
    return [schedule(step=t, total_steps=total, before=t / total, after=(t + 1) / total) for t in range(total)]


def test_points_around_the_end_of_the_warmup_and_the_last():
    found = factors(Linear(warmup=10), 100)
    assert found[0] == 1 / 10  # the first update is not lost
    assert found[8] == 9 / 10
    assert found[9] == 1.0  # W - 1
    assert found[10] == 1.0  # W: where the decay begins
    assert found[11] == pytest.approx(89 / 90)  # W + 1
    assert found[99] == pytest.approx(1 / 90)  # the last update is not lost either


def test_a_share_is_that_share_of_the_steps():
    assert factors(Linear(warmup=0.1), 100) == factors(Linear(warmup=10), 100)
    assert factors(Linear(warmup=0.06), 23_000)[1379] == 1.0
    assert factors(Linear(warmup=0.06), 23_000)[1378] == pytest.approx(1379 / 1380)


def test_the_decay_is_that_of_the_reference():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    reference = get_linear_schedule_with_warmup(optimizer, 10, 100)
    expected = []
    for _ in range(100):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        reference.step()
    assert factors(Linear(warmup=10), 100)[10:] == pytest.approx(expected[10:])


def test_shares_give_the_same_curve_as_steps():
    schedule = Linear(warmup=0.1)
    by_share = [schedule(step=t, total_steps=None, before=t / 50, after=(t + 1) / 50) for t in range(50)]
    assert by_share == pytest.approx(factors(schedule, 50))


def test_final_and_no_warmup():
    found = factors(Linear(warmup=0, final=0.1), 10)
    assert found[0] == 1.0
    assert found[-1] == pytest.approx(0.1 + 0.9 * 0.1)
    assert factors(Linear(warmup=0), 1) == [1.0]
    assert all(0 < f <= 1 for f in factors(Linear(warmup=0.06), 2))


def test_what_does_not_fit():
    Linear(warmup=100).check(total_steps=100)
    with pytest.raises(ConfigError, match="longer than budget"):
        Linear(warmup=101).check(total_steps=100)
    with pytest.raises(ConfigError, match="share"):
        Linear(warmup=10).check(total_steps=None)
    for settings in ({"warmup": -0.1}, {"warmup": 2.5}, {"warmup": float("nan")}, {"final": 2.0}):
        with pytest.raises(ConfigError):
            Linear(**settings)


def test_the_yaml_holds_the_defaults():
    text = (Path(__file__).parents[2] / "conf/schedule/linear.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == {"_target_": "ptcli.schedule.linear.Linear", "warmup": 0.06, "final": 0.0}
