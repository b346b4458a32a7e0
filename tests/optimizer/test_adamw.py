import copy

import pytest
import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.adamw import AdamW
from tests.optimizer.toy import build, one_matrix


def test_the_yaml_builds_it_and_decay_spares_biases():
    module = nn.Linear(3, 2)
    before = copy.deepcopy(module.state_dict())
    optimizer = build("adamw", module, learning_rate=0.1, weight_decay=0.5)
    assert isinstance(optimizer, AdamW)
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.1]
    assert optimizer.param_groups[0]["betas"] == (0.9, 0.999)
    assert optimizer.param_groups[0]["eps"] == 1e-6
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    torch.testing.assert_close(module.weight.detach(), before["weight"] * (1 - 0.1 * 0.5))
    assert torch.equal(module.bias.detach(), before["bias"])


@pytest.mark.parametrize("bias_correction", [True, False])
@pytest.mark.parametrize("fused", [True, False])
def test_equal_to_adam_by_hand(bias_correction, fused):
    """Without correction: google-research/bert, AdamWeightDecayOptimizer; decay is multiplied by the learning rate."""
    module = one_matrix([[0.3, -0.2]])
    weight, m, v = module.weight.detach().clone(), 0.0, 0.0
    settings = {"learning_rate": 0.01, "betas": (0.9, 0.98), "eps": 1e-3, "weight_decay": 0.1}
    optimizer = AdamW(module, bias_correction=bias_correction, **settings)
    optimizer.param_groups[0]["fused"] = fused
    for t in range(1, 6):
        rate = 0.01 / t  # a schedule
        optimizer.param_groups[0]["lr"] = rate
        gradient = torch.tensor([[1.0, -2.0]], dtype=torch.float64) * t
        module.weight.grad = gradient.clone()
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        first, second = (1 - 0.9**t, 1 - 0.98**t) if bias_correction else (1, 1)
        weight = weight - rate * ((m / first) / ((v / second).sqrt() + 1e-3) + 0.1 * weight)
        torch.testing.assert_close(module.weight.detach(), weight, rtol=1e-9, atol=1e-12)
        group = optimizer.param_groups[0]
        assert (group["lr"], group["eps"], group["weight_decay"]) == (rate, 1e-3, 0.1)


def test_berts_first_step_is_larger():
    """m / sqrt(v) after one update: (1 - beta1) / sqrt(1 - beta2), 3.16 instead of 1."""
    for bias_correction, length in ((True, 1.0), (False, 0.1 / 0.001**0.5)):
        module = one_matrix([[0.0]])
        optimizer = AdamW(module, learning_rate=1.0, eps=1e-12, weight_decay=0, bias_correction=bias_correction)
        module.weight.grad = torch.tensor([[7.0]], dtype=torch.float64)
        optimizer.step()
        assert module.weight.item() == pytest.approx(-length)


def test_an_error_in_the_step_leaves_the_rates():
    module = one_matrix([[1.0]])
    optimizer = AdamW(module, bias_correction=False)

    def closure():
        raise KeyError

    with pytest.raises(KeyError):
        optimizer.step(closure)
    assert optimizer.param_groups[0]["lr"] == 5e-4


@pytest.mark.parametrize("settings", [{"betas": [0.9]}, {"betas": [0.9, 1.0]}, {"betas": [-0.1, 0.9]}])
def test_values_that_make_no_sense(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        AdamW(nn.Linear(2, 2), **settings)
