import pytest

from ptcli.errors import ConfigError
from ptcli.schedule.inverse_sqrt import InverseSqrt
from tests.schedule.curves import factors


def test_the_transformers_rate():
    """arXiv 1706.03762, 5.3: d^-0.5 min(n^-0.5, n W^-1.5) for n from 1, whose peak is (d W)^-0.5."""
    size, warm = 512, 4000
    found = factors(InverseSqrt(warmup=warm), 10_000)
    for update in (0, warm - 2, warm - 1, warm, warm + 1, 9_999):
        n = update + 1
        paper = size**-0.5 * min(n**-0.5, n * warm**-1.5)
        assert (size * warm) ** -0.5 * found[update] == pytest.approx(paper)
    assert found[warm - 1] == 1.0 == max(found)


def test_t5_stays_at_its_rate_first():
    """1 / sqrt(max(n, k)), whose largest value is 1 / sqrt(k)."""
    found = factors(InverseSqrt(warmup=100, flat=True), 500)
    assert found[:100] == [1.0] * 100
    for update in (99, 100, 101, 499):
        assert 100**-0.5 * found[update] == pytest.approx(max(update + 1, 100) ** -0.5)


def test_a_quarter_of_the_way_is_half_the_peak():
    assert factors(InverseSqrt(warmup=0.25), 400)[-1] == pytest.approx(0.5)


def test_what_does_not_fit():
    with pytest.raises(ConfigError, match="longer than budget"):
        InverseSqrt(warmup=11).check(total_steps=10)
    with pytest.raises(ConfigError, match="counts updates"):
        InverseSqrt(warmup=10).check(total_steps=None)
    with pytest.raises(ConfigError, match=r"schedule\.warmup=0"):
        InverseSqrt(warmup=0)
