import pytest

from ptcli.errors import ConfigError
from ptcli.schedule.linear import Linear
from ptcli.schedule.polynomial import Polynomial
from tests.schedule.curves import factors


def test_points_around_the_end_of_the_warmup_and_the_last():
    found = factors(Polynomial(power=2, warmup=10), 110)
    assert found[8] == pytest.approx(0.9)
    assert found[9] == found[10] == 1.0  # W - 1, W
    assert found[11] == pytest.approx(0.99**2)  # W + 1
    assert found[109] == pytest.approx(0.01**2)


@pytest.mark.parametrize("decay_from", ["warmup", "start", "product"])
def test_the_first_power_is_the_line(decay_from):
    settings = {"warmup": 7, "final": 0.2, "decay_from": decay_from}
    assert factors(Polynomial(power=1, **settings), 50) == pytest.approx(factors(Linear(**settings), 50))


def test_berts_form_with_a_power():
    found = factors(Polynomial(power=0.5, warmup=10, decay_from="start"), 100)
    assert found[9] == 1.0
    assert found[10] == pytest.approx(0.9**0.5)


@pytest.mark.parametrize("power", [0.0, -1.0, float("nan"), float("inf")])
def test_powers_that_make_no_sense(power):
    with pytest.raises(ConfigError, match=r"schedule\.power"):
        Polynomial(power=power)
