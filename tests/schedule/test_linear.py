import pytest
import torch
import yaml
from transformers import get_linear_schedule_with_warmup

from ptcli.errors import ConfigError
from ptcli.schedule.linear import Linear
from tests.schedule.curves import CONF, by_share, factors


def test_points_around_the_end_of_the_warmup_and_the_last():
    found = factors(Linear(warmup=10), 100)
    assert found[0] == 1 / 10  # the first update is not lost
    assert found[8] == 9 / 10
    assert found[9] == 1.0  # W - 1
    assert found[10] == 1.0  # W: where the decay begins
    assert found[11] == pytest.approx(89 / 90)  # W + 1
    assert found[99] == pytest.approx(1 / 90)  # the last update is not lost either


def test_berts_rate_jumps_down_when_the_warmup_ends():
    """google-research/bert: linear decay counted from step 0, and the warm-up's own line before W."""
    found = factors(Linear(warmup=10, decay_from="start"), 100)
    assert found[8] == 9 / 10
    assert found[9] == 1.0  # W - 1
    assert found[10] == pytest.approx(1 - 10 / 100)  # W: eta (1 - W / T)
    assert found[11] == pytest.approx(1 - 11 / 100)  # W + 1
    assert found[99] == pytest.approx(1 / 100)
    assert factors(Linear(warmup=10_000, decay_from="start"), 1_000_000)[10_000] == pytest.approx(0.99)


def test_electras_rate_is_a_product_of_warmup_and_decay():
    """google-research/electra and GPT-1's warmup_linear: min(1, t / W) (1 - t / T), which never reaches 1."""
    found = factors(Linear(warmup=10, decay_from="product"), 100)
    assert found[0] == pytest.approx(1 / 10)
    assert found[8] == pytest.approx(9 / 10 * (1 - 8 / 100))
    assert found[9] == pytest.approx(1 - 9 / 100)  # W - 1
    assert found[10] == pytest.approx(1 - 10 / 100)  # W
    assert found[11] == pytest.approx(1 - 11 / 100)  # W + 1
    assert found[99] == pytest.approx(1 / 100)
    assert max(found) < 1


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


@pytest.mark.parametrize("decay_from", ["warmup", "start", "product"])
def test_shares_give_the_same_curve_as_steps(decay_from):
    schedule = Linear(warmup=0.1, decay_from=decay_from)
    assert by_share(schedule, 50) == pytest.approx(factors(schedule, 50))


def test_an_update_that_crosses_the_end_of_the_warmup_by_share():
    for decay_from, expected in (("warmup", 1.0), ("start", 1.0), ("product", 0.92)):
        schedule = Linear(warmup=0.1, decay_from=decay_from)
        assert schedule(step=3, total_steps=None, before=0.08, after=0.14) == pytest.approx(expected)


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
    for settings in (
        {"warmup": -0.1},
        {"warmup": 2.5},
        {"warmup": float("nan")},
        {"final": 2.0},
        {"decay_from": "end"},
    ):
        with pytest.raises(ConfigError, match=rf"schedule\.{next(iter(settings))}="):
            Linear(**settings)


def test_the_yaml_holds_the_defaults():
    assert yaml.safe_load((CONF / "linear.yaml").read_text(encoding="utf-8")) == {
        "_target_": "ptcli.schedule.linear.Linear",
        "warmup": 0.06,
        "final": 0.0,
        "decay_from": "warmup",
    }
