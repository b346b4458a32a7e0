import json

import pytest
import torch
from safetensors.torch import load_file

from ptcli.errors import CheckpointError, ConfigError
from ptcli.trainer.average import Average
from ptcli.trainer.trainer import Trainer
from tests.trainer.test_loop import StopAt, StopError, metrics, weights
from tests.trainer.toy import Recorder, train


def averaging(decay=0.9):
    return Trainer(device="cpu", precision="fp32", average=decay)


def test_it_follows_the_closed_form_and_leaves_the_weights_as_they_are():
    module = torch.nn.Linear(3, 2)
    average = Average(module, decay=0.5)
    expected = module.weight.detach().clone()
    for step in range(6):
        with torch.no_grad():
            module.weight += 1.0
        average.update(step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * module.weight.detach()
    torch.testing.assert_close(average.tensors()["weight"], expected)
    before = module.weight.detach().clone()
    with average.in_place():
        torch.testing.assert_close(module.weight.detach(), expected)
    assert torch.equal(module.weight, before)


def test_the_weights_come_back_also_after_an_error():
    module = torch.nn.Linear(3, 2)
    average = Average(module, decay=0.5)
    with torch.no_grad():
        module.weight += 1.0
    before = module.weight.detach().clone()
    with pytest.raises(KeyError), average.in_place():
        raise KeyError
    assert torch.equal(module.weight, before)


def test_what_is_evaluated_and_exported_is_the_average_and_training_is_undisturbed(tmp_path):
    plain, averaged = Recorder(), Recorder()
    reference = train(tmp_path / "plain", sinks=[plain])
    run = train(tmp_path / "averaged", trainer=averaging(), sinks=[averaged], export=True)
    assert all(torch.equal(tensor, weights(run)[name]) for name, tensor in weights(reference).items())
    values = [
        [line["eval/masked_lm_loss"] for line in r.lines if "eval/masked_lm_loss" in line] for r in (plain, averaged)
    ]
    assert all(a != b for a, b in zip(*values, strict=True))
    exported = load_file(tmp_path / "averaged/model/model.safetensors")
    saved = load_file(tmp_path / "averaged/checkpoints/step-00000020/average.safetensors")
    weight = "model.tokens.weight"
    assert torch.equal(exported[weight], saved[weight])
    assert not torch.equal(exported[weight], run.step.state_dict()[weight])


def test_a_stopped_run_goes_on_with_its_average(tmp_path):
    straight = train(tmp_path / "straight", trainer=averaging(), export=True)
    for stop in (6, 13):
        with pytest.raises(StopError):
            train(tmp_path / "stopped", trainer=averaging(), sinks=[StopAt(stop)])
    run = train(tmp_path / "stopped", trainer=averaging(), export=True)
    assert metrics(tmp_path / "stopped") == metrics(tmp_path / "straight")
    assert all(torch.equal(tensor, weights(run)[name]) for name, tensor in weights(straight).items())
    one, other = (load_file(tmp_path / name / "model/model.safetensors") for name in ("straight", "stopped"))
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_an_average_that_is_missing_or_of_another_model_is_told(tmp_path):
    with pytest.raises(StopError):
        train(tmp_path, sinks=[StopAt(6)])
    with pytest.raises(CheckpointError, match=r"average\.safetensors does not exist"):
        train(tmp_path, trainer=averaging())
    with pytest.raises(CheckpointError, match="average is of other weights"):
        Average(torch.nn.Linear(3, 2), decay=0.5).load({"weight": torch.zeros(2, 3)})


def test_a_damaged_average_makes_a_damaged_checkpoint(tmp_path):
    train(tmp_path, steps=8, trainer=averaging())
    (tmp_path / "checkpoints/step-00000008/average.safetensors").unlink()
    recorder = Recorder()
    train(tmp_path, steps=8, trainer=averaging(), sinks=[recorder])
    assert any("step-00000008 is damaged" in text for text in recorder.said)
    assert json.loads((tmp_path / "summary.json").read_text())["status"] == "finished"


@pytest.mark.parametrize("decay", [0.0, 1.0, -1.0])
def test_decays_out_of_range(decay):
    with pytest.raises(ConfigError, match=r"trainer\.average"):
        Trainer(average=decay)


def test_it_is_told_each_step_once(tmp_path, monkeypatch):
    steps, update = [], Average.update
    monkeypatch.setattr(Average, "update", lambda self, step: (steps.append(step), update(self, step)))
    train(tmp_path, trainer=averaging())
    assert steps == list(range(20))
