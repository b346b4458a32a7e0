import json

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.nonfinite import MOST_SKIPPED, NotFiniteError
from ptcli.trainer.trainer import Trainer
from tests.trainer.test_loop import StopAt, StopError, metrics, weights
from tests.trainer.toy import Recorder, ToyLoader, train


class Named(ToyLoader):
    """Says which rows a step is made of; the steps of `bad` numbers (from 1) give no finite loss."""

    def __init__(self, bad=()):
        super().__init__()
        self.bad = bad

    def steps(self, position, first_step):
        for number, step in enumerate(super().steps(position, first_step), first_step + 1):
            if number in self.bad:
                step.counts["labels"] = float("nan")
            yield step

    def examples(self, position):
        first = position["rows"] if position else 0
        return f"rows {first} to {first + self.size - 1}"


def skipping():
    return Trainer(device="cpu", precision="fp32", on_nonfinite="skip")


def test_stopping_names_the_step_and_its_examples(tmp_path):
    with pytest.raises(NotFiniteError, match=r"not finite at step 7 .*step 4\); it was fed rows 48 to 55\. A smaller"):
        train(tmp_path, loader=Named({7}))
    assert Checkpoints(tmp_path / "checkpoints").steps() == [4]


def test_skipping_leaves_the_step_out_names_its_examples_and_counts_it(tmp_path):
    recorder = Recorder()
    run = train(tmp_path / "run", loader=Named({7, 8}), trainer=skipping(), log_every=1, sinks=[recorder])
    assert (run.state.step, run.state.skipped, run.state.tokens) == (20, 2, 20 * 48)
    said = [text for text in recorder.said if "skipped" in text]
    assert said[0] == "step 7 is skipped, its gradient is not finite; it was fed rows 48 to 55"
    assert said[1].startswith("step 8 is skipped")
    lines = {line["step"]: line for line in recorder.lines if "train/loss" in line}
    assert [lines[n]["train/skipped_steps"] for n in (6, 7, 8, 9)] == [0, 1, 2, 2]
    assert lines[7]["train/loss"] is lines[7]["train/grad_norm"] is None
    assert all(lines[n]["train/loss"] > 0 for n in (6, 9, 20))
    assert all(torch.isfinite(tensor).all() for tensor in weights(run).values())
    assert json.loads((tmp_path / "run/summary.json").read_text())["skipped_steps"] == 2


def test_a_skipped_step_changes_no_weight(tmp_path):
    before = train(tmp_path / "six", steps=20, loader=Named(), trainer=skipping(), leave_after=6, evaluate=None)
    after = train(tmp_path / "eight", steps=20, loader=Named({7, 8}), trainer=skipping(), leave_after=8, evaluate=None)
    for name, tensor in weights(before).items():
        assert torch.equal(tensor, weights(after)[name]), name


def test_a_stop_beside_skipped_steps_changes_nothing(tmp_path):
    options = {"loader": Named({3, 9, 10}), "trainer": skipping(), "evaluate": None}
    straight = train(tmp_path / "straight", **options)
    for stop in (9, 10):
        with pytest.raises(StopError):
            train(tmp_path / "stopped", **options, save_every=1, sinks=[StopAt(stop)])
    run = train(tmp_path / "stopped", **options)
    assert all(torch.equal(tensor, weights(run)[name]) for name, tensor in weights(straight).items())
    assert metrics(tmp_path / "stopped") == metrics(tmp_path / "straight")
    assert run.state.skipped == 3


def test_too_many_in_a_row_end_the_run(tmp_path):
    bad = range(5, 100)
    with pytest.raises(NotFiniteError, match=f"step {5 + MOST_SKIPPED}, and so were those of the {MOST_SKIPPED} steps"):
        train(tmp_path, steps=100, loader=Named(bad), trainer=skipping(), evaluate=None)


def test_another_word_is_refused():
    with pytest.raises(ConfigError, match=r"trainer\.on_nonfinite=ignore: choose stop or skip"):
        Trainer(on_nonfinite="ignore")
