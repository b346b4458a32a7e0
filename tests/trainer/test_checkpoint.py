import errno
import json

import pytest
import torch

from ptcli.errors import CheckpointError, ConfigError
from ptcli.trainer import checkpoint as checkpoint_module
from ptcli.trainer.checkpoint import Checkpoints, snapshot
from ptcli.trainer.state import TrainingState
from tests.trainer.toy import Recorder, train


def saved_run(folder, **options):
    return train(folder, steps=12, evaluate=None, save_every=4, keep=3, **options)


def test_layout_and_nothing_pickled(tmp_path):
    saved_run(tmp_path)
    folder = tmp_path / "checkpoints"
    assert sorted(p.name for p in folder.iterdir()) == ["latest", "step-00000004", "step-00000008", "step-00000012"]
    files = sorted(p.name for p in (folder / "step-00000012").iterdir())
    assert files == ["manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"]
    state = json.loads((folder / "step-00000012/state.json").read_text())
    assert state["state"]["position"] == {"rows": 96}
    assert set(state["versions"]) == {"ptcli", "torch", "python"}


def truncate(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def remove(path):
    path.unlink()


@pytest.mark.parametrize("name", ["manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("damage", [truncate, flip, remove])
def test_a_damaged_one_is_put_aside_and_the_one_before_is_taken(tmp_path, name, damage):
    saved_run(tmp_path)
    damage(tmp_path / "checkpoints/step-00000012" / name)
    recorder = Recorder()
    run = train(tmp_path, steps=12, evaluate=None, save_every=4, keep=3, sinks=[recorder])
    assert run.state.step == 12
    assert any("step-00000012 is damaged" in text for text in recorder.said)
    assert any("going on from step 8" in text for text in recorder.said)
    assert (tmp_path / "checkpoints/damaged-step-00000012").is_dir()
    assert Checkpoints(tmp_path / "checkpoints").steps() == [4, 8, 12]


def test_all_damaged_never_begins_again_unasked(tmp_path):
    saved_run(tmp_path)
    for step in (4, 8, 12):
        flip(tmp_path / f"checkpoints/step-{step:08d}/model.safetensors")
    with pytest.raises(CheckpointError, match="resume=never"):
        saved_run(tmp_path)
    with pytest.raises(CheckpointError, match="resume=never"):  # and again
        saved_run(tmp_path)


def test_a_missing_entry_of_the_state_is_named():
    values = TrainingState().to_dict()
    values.pop("position")
    with pytest.raises(CheckpointError, match="position"):
        TrainingState.from_dict(values)
    with pytest.raises(CheckpointError, match="colour"):
        TrainingState.from_dict(TrainingState().to_dict() | {"colour": 1})


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    saved_run(tmp_path)
    half = tmp_path / "checkpoints/.tmp-step-00000016"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    assert saved_run(tmp_path).state.step == 12
    assert not half.exists()


def test_a_full_disk_leaves_the_earlier_ones(tmp_path, monkeypatch):
    def full(tensors, ties, path):
        path.write_bytes(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    saved_run(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_module, "write_tensors", full)
        with pytest.raises(CheckpointError, match=r"disk is full.*step-00000012"):
            train(tmp_path, steps=16, evaluate=None)
    assert sorted(p.name for p in (tmp_path / "checkpoints").glob("*")) == [
        "latest", "step-00000004", "step-00000008", "step-00000012",
    ]  # fmt: skip
    assert json.loads((tmp_path / "summary.json").read_text())["status"] == "failed"
    assert train(tmp_path, steps=16, evaluate=None).state.step == 16


def test_another_optimizer_is_refused(tmp_path):
    run = saved_run(tmp_path)
    folder = Checkpoints(tmp_path / "checkpoints")
    with pytest.raises(CheckpointError, match="AdamW"):
        folder.load(folder.path(12), run.step, torch.optim.SGD(run.step.parameters(), lr=1.0))


def test_keep_at_least_one(tmp_path):
    with pytest.raises(ConfigError, match=r"save\.keep"):
        Checkpoints(tmp_path, keep=0)


def test_an_error_while_writing_leaves_nothing(tmp_path, monkeypatch):
    run = saved_run(tmp_path)
    monkeypatch.setattr(checkpoint_module, "digest", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Checkpoints(tmp_path / "new").write(snapshot(run.step, run.optimizer, TrainingState(step=3)))
    assert list((tmp_path / "new").iterdir()) == []
