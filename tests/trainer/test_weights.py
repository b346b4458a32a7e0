import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from torch import nn

from ptcli.errors import CheckpointError
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.weights import load_weights, named_tensors, save_model, save_weights
from tests.trainer.toy import ToyModel, ToyObjective


def toy(seed):
    torch.manual_seed(seed)
    model = ToyModel()
    return TrainingStep(model, ToyObjective(model))


def test_tied_and_shared_tensors_are_saved_once_and_come_back_tied(tmp_path):
    step, other = toy(1), toy(2)
    save_weights(step, tmp_path / "model.safetensors")
    names = set(load_file(tmp_path / "model.safetensors"))
    assert names == {name for name, _ in step.named_parameters()}
    assert named_tensors(step)[1] == {
        "model.blocks.0.weight": "model.shared.weight",
        "model.blocks.0.bias": "model.shared.bias",
        "model.blocks.1.weight": "model.shared.weight",
        "model.blocks.1.bias": "model.shared.bias",
        "objective.decoder.weight": "model.tokens.weight",
    }
    load_weights(other, tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(step.parameters(), other.parameters(), strict=True))
    assert other.objective.decoder.weight is other.model.tokens.weight


def test_missing_unexpected_and_misshapen_tensors_are_named(tmp_path):
    small, large = nn.Linear(2, 3, bias=False), nn.Linear(2, 3)
    save_weights(small, tmp_path / "small")
    save_weights(large, tmp_path / "large")
    with pytest.raises(CheckpointError, match="lacks bias"):
        load_weights(large, tmp_path / "small")
    with pytest.raises(CheckpointError, match="holds bias"):
        load_weights(small, tmp_path / "large")
    with pytest.raises(CheckpointError, match=r"weight has the shape \(3, 2\), but \(3, 4\)"):
        load_weights(nn.Linear(4, 3), tmp_path / "large")


def test_a_failed_load_leaves_the_module_as_it_was(tmp_path):
    save_weights(nn.Linear(2, 3), tmp_path / "w")
    module = nn.Linear(4, 3)
    before = module.weight.detach().clone()
    with pytest.raises(CheckpointError):
        load_weights(module, tmp_path / "w")
    assert torch.equal(module.weight, before)


def test_tied_here_but_different_in_the_file(tmp_path):
    step = toy(1)
    tensors = {name: tensor.detach().clone() for name, tensor in step.state_dict().items()}
    tensors["objective.decoder.weight"] += 1
    save_file(tensors, tmp_path / "w")
    with pytest.raises(CheckpointError, match="one tensor in this model"):
        load_weights(step, tmp_path / "w")


@pytest.mark.parametrize("content", [None, b"", b"not a safetensors file at all"])
def test_absent_or_damaged(tmp_path, content):
    if content is not None:
        (tmp_path / "w").write_bytes(content)
    with pytest.raises(CheckpointError):
        load_weights(nn.Linear(2, 2), tmp_path / "w")


def test_the_model_folder_is_replaced_whole(tmp_path):
    tokenizer = tmp_path / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "tokenizer.json").write_text("{}")
    for text in ("书", "ok"):
        save_model(tmp_path / "model", toy(1), config={"corpus": {"path": text}}, tokenizer_folder=tokenizer)
    assert yaml.safe_load((tmp_path / "model/config.yaml").read_text(encoding="utf-8")) == {"corpus": {"path": "ok"}}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "tokenizer"]
    with pytest.raises(FileNotFoundError):
        save_model(tmp_path / "model", toy(1), config={}, tokenizer_folder=tmp_path / "absent")
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["config.yaml", "model.safetensors", "tokenizer"]
