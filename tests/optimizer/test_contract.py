"""What every optimizer keeps: groups, ranges, saving and loading, any device."""

import inspect
import json

import pytest
import torch
from safetensors.torch import load, save

from ptcli.config.targets import locate
from ptcli.errors import CheckpointError, ConfigError
from ptcli.trainer.optimizer_state import load_state, named_state
from tests.optimizer.toy import PARTS, build, settings_of, take_steps, whole

every_optimizer = pytest.mark.parametrize("name", PARTS)


@every_optimizer
def test_every_parameter_stands_in_one_group(name):
    module = whole()
    optimizer = build(name, module, layer_decay=0.5)
    inside = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    assert len(inside) == len(set(inside))
    assert set(inside) == set(module.parameters())
    assert all(group["lr"] > 0 for group in optimizer.param_groups)
    names = [group["name"] for group in optimizer.param_groups]
    assert len(set(names)) == len(names)


@every_optimizer
def test_it_lowers_the_loss(name):
    module = whole()
    losses = take_steps(module, build(name, module, learning_rate=0.02), range(60))
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])


@every_optimizer
@pytest.mark.parametrize("changes", [{}, {"layer_decay": 0.7, "decay_exempt": "none"}], ids=["plain", "by layer"])
def test_a_saved_one_goes_on_bitwise_as_if_nothing_had_happened(name, changes):
    module = whole()
    optimizer = build(name, module, **changes)
    take_steps(module, optimizer, range(3), factor=0.5)
    tensors, plain = named_state(optimizer, module)
    tensors, plain = load(save(tensors)), json.loads(json.dumps(plain))
    other = whole(seed=1)
    other.load_state_dict(module.state_dict())
    loaded = build(name, other, **changes)
    for group in loaded.param_groups:
        group["initial_lr"] = group["lr"]
    load_state(loaded, other, tensors, plain)

    take_steps(module, optimizer, range(3, 6), factor=0.7)
    take_steps(other, loaded, range(3, 6), factor=0.7)
    for (parameter, one), two in zip(module.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two), parameter
    again, _ = named_state(loaded, other)
    expected, _ = named_state(optimizer, module)
    assert again.keys() == expected.keys()
    assert all(torch.equal(again[key], expected[key]) for key in expected)


def test_another_ones_state_is_refused():
    module = whole()
    optimizer = build("adamw", module)
    take_steps(module, optimizer, range(1))
    with pytest.raises(CheckpointError, match="AdamW"):
        load_state(build("lamb", module), module, *named_state(optimizer, module))


@every_optimizer
def test_it_is_built_on_the_meta_device(name):
    with torch.device("meta"):
        module = whole()
    assert build(name, module).param_groups


@every_optimizer
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("weight_decay", -0.1),
        ("eps", 0.0),
        ("decay_exempt", "biases"),
        ("layer_decay", 0.0),
        ("layer_decay", 1.1),
    ],
)
def test_values_out_of_range(name, key, value):
    with pytest.raises(ConfigError, match=rf"optimizer\.{key}="):
        build(name, whole(), **{key: value})


@every_optimizer
def test_the_yaml_holds_every_argument_and_its_default(name):
    settings = settings_of(name)
    parameters = dict(inspect.signature(locate(settings.pop("_target_"))).parameters)
    parameters.pop("module")
    defaults = {key: list(p.default) if isinstance(p.default, tuple) else p.default for key, p in parameters.items()}
    assert settings == defaults


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_optimizer
def test_it_steps_on_a_gpu_as_on_the_cpu(name):
    on_cpu, on_gpu = whole(), whole().cuda()
    one, other = build(name, on_cpu, learning_rate=0.02), build(name, on_gpu, learning_rate=0.02)
    for number in range(3):
        on_cpu.zero_grad()
        on_cpu.loss(number).backward()
        for parameter, twin in zip(on_cpu.parameters(), on_gpu.parameters(), strict=True):
            twin.grad = parameter.grad.cuda()
        one.step()
        other.step()
    rounding = 2e-3 if name == "muon" else 1e-5  # torch makes matrices orthogonal in bfloat16
    for parameter, twin in zip(on_cpu.parameters(), on_gpu.parameters(), strict=True):
        assert float((parameter - twin.cpu()).abs().max()) < rounding
