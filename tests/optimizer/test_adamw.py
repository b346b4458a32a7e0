import copy
from pathlib import Path

import pytest
import torch
import yaml
from hydra.utils import instantiate
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.adamw import AdamW


def test_the_yaml_builds_it_and_decay_spares_biases():
    settings = yaml.safe_load((Path(__file__).parents[2] / "conf/optimizer/adamw.yaml").read_text(encoding="utf-8"))
    module = nn.Linear(3, 2)
    before = copy.deepcopy(module.state_dict())
    optimizer = instantiate(settings, module, learning_rate=0.1, weight_decay=0.5)
    assert isinstance(optimizer, AdamW)
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.1]
    assert optimizer.param_groups[0]["betas"] == (0.9, 0.999)
    assert optimizer.param_groups[0]["eps"] == 1e-6
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    torch.testing.assert_close(module.weight.detach(), before["weight"] * (1 - 0.1 * 0.5))
    assert torch.equal(module.bias.detach(), before["bias"])


def test_equal_to_adam_by_hand():
    module = nn.Linear(2, 1, bias=False).double()
    weight, m, v = module.weight.detach().clone(), 0.0, 0.0
    optimizer = AdamW(module, learning_rate=0.01, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1)
    for t in range(1, 5):
        gradient = torch.tensor([[1.0, -2.0]], dtype=torch.float64) * t
        module.weight.grad = gradient.clone()
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        weight = weight * (1 - 0.01 * 0.1)
        weight = weight - 0.01 * (m / (1 - 0.9**t)) / ((v / (1 - 0.98**t)).sqrt() + 1e-6)
        torch.testing.assert_close(module.weight.detach(), weight, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"betas": [0.9]},
        {"betas": [0.9, 1.0]},
        {"eps": 0.0},
        {"weight_decay": -1.0},
    ],
)
def test_values_that_make_no_sense(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        AdamW(nn.Linear(2, 2), **settings)
