import pytest

from ptcli.errors import ConfigError
from ptcli.schedule.constant import Constant


def factors(schedule, total):
    return [schedule(step=t, total_steps=total, before=t / total, after=(t + 1) / total) for t in range(total)]


def test_full_from_the_first_update_or_from_the_end_of_the_warmup():
    assert factors(Constant(), 5) == [1.0] * 5
    assert factors(Constant(warmup=4), 6) == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_warmup_longer_than_the_budget():
    with pytest.raises(ConfigError, match="longer than budget"):
        Constant(warmup=7).check(total_steps=6)
