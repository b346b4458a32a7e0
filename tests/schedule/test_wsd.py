import pytest

from ptcli.errors import ConfigError
from ptcli.schedule.wsd import WarmupStableDecay
from tests.schedule.curves import by_share, factors


def test_points_around_both_ends():
    found = factors(WarmupStableDecay(warmup=10, decay=20), 100)
    assert found[8] == pytest.approx(0.9)
    assert found[9:81] == [1.0] * 72  # from W - 1 to the decay's first update
    assert found[81] == pytest.approx(19 / 20)
    assert found[90] == pytest.approx(0.5)
    assert found[99] == pytest.approx(1 / 20)


def test_one_minus_the_root():
    found = factors(WarmupStableDecay(warmup=10, decay=20, shape="one_minus_sqrt"), 100)
    assert found[9:81] == [1.0] * 72
    assert found[81] == pytest.approx(1 - (1 / 20) ** 0.5)
    assert found[85] == pytest.approx(1 - (5 / 20) ** 0.5)
    assert found[99] == pytest.approx(1 - (19 / 20) ** 0.5)


def test_shares_and_what_is_left_at_the_end():
    schedule = WarmupStableDecay(warmup=0.1, decay=0.2, shape="one_minus_sqrt", final=0.1)
    counted = WarmupStableDecay(warmup=10, decay=20, shape="one_minus_sqrt", final=0.1)
    assert factors(schedule, 100) == factors(counted, 100)
    assert by_share(schedule, 100) == pytest.approx(factors(counted, 100))
    assert factors(schedule, 10_000)[-1] == pytest.approx(0.1, abs=1e-3)


def test_without_a_decay_it_is_constant():
    assert factors(WarmupStableDecay(warmup=0, decay=0), 5) == [1.0] * 5


def test_what_does_not_fit():
    WarmupStableDecay(warmup=40, decay=60).check(total_steps=100)
    WarmupStableDecay(warmup=0.4, decay=60).check(total_steps=100)
    for schedule in (WarmupStableDecay(warmup=41, decay=60), WarmupStableDecay(warmup=0.41, decay=60)):
        with pytest.raises(ConfigError, match=r"take more than budget\.steps=100 together"):
            schedule.check(total_steps=100)
    with pytest.raises(ConfigError, match=r"schedule\.decay=101 is longer"):
        WarmupStableDecay(warmup=0, decay=101).check(total_steps=100)
    with pytest.raises(ConfigError, match=r"schedule\.decay=5 counts updates"):
        WarmupStableDecay(decay=5).check(total_steps=None)
    with pytest.raises(ConfigError, match="more than the whole budget"):
        WarmupStableDecay(warmup=0.6, decay=0.5)
    for settings in ({"decay": -1.0}, {"decay": 2.5}, {"shape": "cosine"}, {"final": -0.1}):
        with pytest.raises(ConfigError, match=rf"schedule\.{next(iter(settings))}="):
            WarmupStableDecay(**settings)


def test_very_short_runs_are_not_refused():
    for total in (1, 2, 3):
        schedule = WarmupStableDecay(warmup=0.5, decay=0.5)
        schedule.check(total_steps=total)
        assert all(0 < factor <= 1 for factor in factors(schedule, total))
