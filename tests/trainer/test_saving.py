"""Checkpoints are written in a thread, while training goes on."""

import threading
import time

import pytest
import torch

from ptcli.errors import CheckpointError
from ptcli.trainer import checkpoint as checkpoint_module
from ptcli.trainer.checkpoint import Checkpoints, snapshot
from ptcli.trainer.state import TrainingState
from tests.trainer.test_checkpoint import flip
from tests.trainer.test_loop import assert_equal, undisturbed  # noqa: F401 (a fixture)
from tests.trainer.toy import Recorder, train
from tests.waiting import HANG, end_of, give_a_chance


@pytest.fixture
def held(monkeypatch):
    """Writing waits until the event is set."""
    gate, write = threading.Event(), checkpoint_module.write_tensors

    def wait(*arguments):
        assert gate.wait(HANG)
        write(*arguments)

    monkeypatch.setattr(checkpoint_module, "write_tensors", wait)
    yield gate
    gate.set()


def taken_at(run, step):
    return snapshot(run.step, run.optimizer, TrainingState(step=step))


def test_a_step_does_not_wait_and_later_ones_do_not_change_what_is_saved(tmp_path, held):
    run = train(tmp_path / "run", steps=2, save_every=0, evaluate=None, leave_after=1)
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    before = {name: tensor.detach().clone() for name, tensor in run.step.state_dict().items()}
    checkpoints.save(taken_at(run, 1))  # returns while the thread waits
    with torch.no_grad():
        for parameter in run.step.parameters():
            parameter.zero_()
    assert checkpoints.steps() == []
    held.set()
    checkpoints.finish()
    checkpoints.load(checkpoints.path(1), run.step, run.optimizer)
    assert all(torch.equal(tensor, run.step.state_dict()[name]) for name, tensor in before.items())


def test_the_next_one_waits_for_the_one_before(tmp_path, held):
    run = train(tmp_path / "run", steps=2, save_every=0, evaluate=None, leave_after=1)
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    checkpoints.save(taken_at(run, 1))
    found = []
    next_one = threading.Thread(target=lambda: found.append((checkpoints.save(taken_at(run, 2)), checkpoints.steps())))
    next_one.start()
    give_a_chance()
    assert found == []
    held.set()
    end_of(next_one)
    assert found[0][1][0] == 1
    checkpoints.finish()
    assert checkpoints.steps() == [1, 2]


def test_training_while_it_is_written_changes_nothing(tmp_path, undisturbed, monkeypatch):  # noqa: F811
    write = checkpoint_module.write_tensors
    monkeypatch.setattr(checkpoint_module, "write_tensors", lambda *a: (time.sleep(0.05), write(*a)))
    assert_equal(tmp_path, train(tmp_path), undisturbed)
    assert Checkpoints(tmp_path / "checkpoints").steps() == [16, 20]


def test_an_error_of_the_thread_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "write_tensors", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, steps=2000, evaluate=None)
    assert not [p for p in (tmp_path / "checkpoints").iterdir() if not p.name.startswith("damaged")]


def test_metrics_are_on_the_disk_before_the_checkpoint_that_counts_them(tmp_path):
    order = []

    class Watched(Checkpoints):
        def write(self, taken):
            order.append("checkpoint")
            return super().write(taken)

    run = train(tmp_path / "run", steps=2, save_every=0, evaluate=None, leave_after=1)
    checkpoints = Watched(tmp_path / "checkpoints")
    checkpoints.save(taken_at(run, 1), first=lambda: order.append("metrics"))
    checkpoints.finish()
    assert order == ["metrics", "checkpoint"]


def test_the_last_whole_one_is_never_removed(tmp_path):
    """With keep=1, at every moment one whole checkpoint is there, also when the newest was found damaged."""
    options = {"evaluate": None, "save_every": 4, "keep": 1}
    train(tmp_path, steps=8, **(options | {"keep": 2}))
    checkpoints = tmp_path / "checkpoints"
    flip(checkpoints / "step-00000008/model.safetensors")
    recorder = Recorder()

    class Looking(Recorder):
        def progress(self, *, step, share, seconds):
            assert any(checkpoint_module._damage(path) is None for path in checkpoints.glob("step-*"))

    train(tmp_path, steps=16, **options, sinks=[recorder, Looking()])
    assert any("step-00000008 is damaged" in text for text in recorder.said)
    assert Checkpoints(checkpoints).steps() == [16]
    flip(checkpoints / "step-00000016/state.json")
    with pytest.raises(CheckpointError, match="All checkpoints"):
        train(tmp_path, steps=16, **options)
