import math

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.schedule.one_cycle import OneCycle
from tests.schedule.curves import by_share, factors


def wave(share):
    return 0.5 * (1 - math.cos(math.pi * share))


def test_points_around_the_peak_and_both_ends():
    found = factors(OneCycle(warmup=30, start=0.1, final=0.01), 100)
    assert found[0] == pytest.approx(0.1 + 0.9 * wave(1 / 30))
    assert found[28] == pytest.approx(0.1 + 0.9 * wave(29 / 30))
    assert found[29] == found[30] == 1.0  # W - 1, W
    assert found[31] == pytest.approx(0.01 + 0.99 * wave(69 / 70))  # W + 1
    assert found[99] == pytest.approx(0.01 + 0.99 * wave(1 / 70))


def test_the_curve_of_the_reference():
    """torch's reaches its ends exactly, an update earlier; over a long run the curves are one."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    reference = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=2000, cycle_momentum=False)
    expected = []
    for _ in range(2000):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        reference.step()
        if len(expected) == 1999:
            expected.append(optimizer.param_groups[0]["lr"])
            break
    assert factors(OneCycle(), 2000) == pytest.approx(expected, abs=3e-3)


def test_the_triangle_of_cramming():
    """JonasGeiping/cramming, budget-triangle2: a quarter to one over three quarters of the time, then to zero."""
    schedule = OneCycle(warmup=0.75, start=0.25, final=0.0, shape="linear")
    found = by_share(schedule, 400)
    assert found[0] == pytest.approx(0.25 + 0.75 / 300)
    assert found[149] == pytest.approx(0.625)
    assert found[299] == pytest.approx(1.0)  # W - 1
    assert found[300] == pytest.approx(1.0)  # W
    assert found[301] == pytest.approx(0.99)
    assert found[399] == pytest.approx(0.01)


def test_what_makes_no_sense():
    for settings in ({"shape": "square"}, {"start": 2.0}, {"final": -1.0}, {"warmup": 1.5}):
        with pytest.raises(ConfigError, match=rf"schedule\.{next(iter(settings))}="):
            OneCycle(**settings)
    with pytest.raises(ConfigError, match="longer than budget"):
        OneCycle(warmup=11).check(total_steps=10)
