import json

import pytest
import torch
from safetensors.torch import load_file

from ptcli.errors import ConfigError
from ptcli.trainer.precision import PRECISIONS, LossScale, Precision, choose_precision
from ptcli.trainer.trainer import Trainer
from tests.trainer.test_loop import StopAt, StopError, metrics, weights
from tests.trainer.toy import train

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "weights_type", "compute_type"),
    [
        ("fp32", torch.float32, torch.float32),
        ("bf16", torch.float32, torch.bfloat16),
        ("bf16_pure", torch.bfloat16, torch.bfloat16),
        ("fp16", torch.float32, torch.float16),
    ],
)
def test_the_types_of_weights_and_of_products(name, weights_type, compute_type):
    trainer = Trainer(device="cpu", precision=name)
    layer = torch.nn.Linear(4, 4)
    trainer.place(layer)
    assert layer.weight.dtype == weights_type
    with trainer.autocast():
        assert layer(torch.ones(2, 4, dtype=weights_type)).dtype == compute_type
    assert trainer.precision.compute_type == compute_type
    assert name.split("_")[0] in trainer.describe()


def test_only_tf32_lets_torch_round_float32_products():
    for is_tf32, told in ((True, "high"), (False, "highest")):
        Precision("", CPU, is_tf32=is_tf32).begin()
        assert torch.get_float32_matmul_precision() == told


def test_what_a_device_cannot_compute_is_refused():
    with pytest.raises(ConfigError, match="NVIDIA"):
        choose_precision("tf32", CPU)
    with pytest.raises(ConfigError, match=", ".join(PRECISIONS)):
        choose_precision("fp8", CPU)


def test_the_scale_halves_at_an_overflow_and_doubles_after_an_interval():
    scale = LossScale(value=1024.0, interval=3)
    scale.adapt(overflowed=True)
    assert scale.value == 512
    for _ in range(2):
        scale.adapt(overflowed=False)
    saved = scale.saved()
    scale.adapt(overflowed=False)
    assert scale.value == 1024
    again = LossScale(interval=3)
    again.load(saved)
    again.adapt(overflowed=False)
    assert again.value == 1024
    again.load({})
    assert again.value == 1024


def test_the_scale_follows_torchs(tmp_path):
    ours, theirs = LossScale(value=2.0**10, interval=4), torch.amp.GradScaler("cpu", 2.0**10, growth_interval=4)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    theirs.scale(torch.zeros(1))
    for overflowed in (False, True, False, False, False, False, True, True, False):
        weight.grad = torch.full((1,), float("inf") if overflowed else 1.0)
        theirs.step(optimizer)
        theirs.update()
        ours.adapt(overflowed=overflowed)
        assert ours.value == theirs.get_scale()


def test_fp16_trains_skips_overflows_and_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    # a scale at which the toy's first gradients overflow
    monkeypatch.setattr(LossScale.__init__, "__kwdefaults__", {"value": 2.0**30, "interval": 5})
    options = {"trainer": Trainer(device="cpu", precision="fp16"), "steps": 40}
    straight = train(tmp_path / "straight", **options)
    assert straight.state.skipped > 0
    lines = metrics(tmp_path / "straight")
    assert (
        lines[-1]["eval/masked_lm_loss"]
        < next(line for line in lines if "eval/masked_lm_loss" in line)["eval/masked_lm_loss"]
    )
    assert all(p.dtype == torch.float32 for p in straight.step.parameters())
    for stop in (3, 18):
        with pytest.raises(StopError):
            train(tmp_path / "stopped", **options, sinks=[StopAt(stop)])
    again = train(tmp_path / "stopped", **options)
    assert all(torch.equal(tensor, weights(again)[name]) for name, tensor in weights(straight).items())
    assert again.state.loss_scale == straight.state.loss_scale
    assert metrics(tmp_path / "stopped") == lines


def test_scaling_changes_no_gradient(tmp_path):
    """Powers of two are exact: what is multiplied and divided by one comes back, where nothing under- or overflows."""
    plain = train(tmp_path / "plain", steps=5, evaluate=None)
    trainer = Trainer(device="cpu", precision="fp32")
    trainer.precision = trainer.precision.__class__("fp32", CPU, is_scaled=True)
    scaled = train(tmp_path / "scaled", steps=5, evaluate=None, trainer=trainer)
    assert all(torch.equal(tensor, weights(scaled)[name]) for name, tensor in weights(plain).items())


def test_pure_bf16_keeps_all_of_its_state_in_bf16(tmp_path):
    trainer = Trainer(device="cpu", precision="bf16_pure")
    run = train(tmp_path, trainer=trainer)
    assert {p.dtype for p in run.step.parameters()} == {torch.bfloat16}
    saved = load_file(tmp_path / "checkpoints/step-00000020/model.safetensors")
    assert {tensor.dtype for tensor in saved.values()} == {torch.bfloat16}
    evaluations = [line["eval/masked_lm_loss"] for line in metrics(tmp_path) if "eval/masked_lm_loss" in line]
    assert evaluations[-1] < evaluations[0]
    assert "weights included" in json.loads((tmp_path / "summary.json").read_text())["device"]
