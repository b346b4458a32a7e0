"""A run in phases, from end to end."""

import json

import numpy as np
import pytest

from ptcli.cli import main
from ptcli.logger.jsonl import Jsonl
from tests.command.toy import metrics, settings
from tests.trainer.test_loop import StopAt, StopError

PHASES = (
    "phases=[{until: 0.4, max_length: 16, batch.size: 8, mask.ratio: 0.4}, {until: 0.7, batch.size: 2}, "
    "{packing: segment_pair, optimizer.learning_rate: 0.0001}]"
)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more, expect=0):
    assert main(["pretrain", *settings(folder, *more)]) == expect


def test_each_phase_is_fed_as_it_says(tmp_path, capsys):
    pretrain(tmp_path, PHASES, "budget.steps=20", "run.name=phased")
    lines = [line for line in metrics(tmp_path / "runs/phased") if "train/loss" in line]
    assert [line["train/mask_ratio_asked"] for line in lines] == [0.4] * 8 + [0.15] * 12
    tokens = np.diff([0, *(line["train/tokens"] for line in lines)])
    assert (tokens[:8] <= 8 * 16).all()
    assert (tokens[8:14] <= 2 * 32).all()
    assert (tokens[14:] <= 4 * 32).all()
    assert tokens[:8].mean() > tokens[8:14].mean()
    rates = [line["train/learning_rate"] for line in lines]
    assert rates[14] / rates[13] == pytest.approx(0.2 * 6 / 7)  # 0.0001 of 0.0005, and the schedule goes on
    assert np.diff([line["train/epoch"] for line in lines]).min() > 0
    assert lines[-1]["train/epoch"] < 1
    told = capsys.readouterr().out
    assert "phase 1 of 3, until 0.4 of the budget: max_length=16, batch.size=8, mask.ratio=0.4" in told
    assert "phase 2 of 3 from step 9: batch.size=2" in told
    assert "phase 3 of 3 from step 15" in told
    # every evaluation reads rows of one length
    sizes = {line["eval/tokens"] for line in metrics(tmp_path / "runs/phased") if "eval/tokens" in line}
    assert len(sizes) == 1


@pytest.mark.parametrize("masks", ["mask=dynamic", "mask=static", "corpus.streaming=true"])
def test_stops_in_several_phases_and_with_no_step_between_change_nothing(tmp_path, monkeypatch, masks):
    shared = [PHASES, masks, "budget.steps=20", "save.every=1"]
    if "streaming" in masks:
        shared += ["corpus.window=4000"]
    pretrain(tmp_path, *shared, "run.name=straight")
    straight, stopped = (tmp_path / "runs" / name for name in ("straight", "stopped"))
    for moment in (5, 9, 9, 15):
        with monkeypatch.context() as patch:
            patch.setattr(Jsonl, "progress", StopAt(moment).progress)
            with pytest.raises(StopError):
                pretrain(tmp_path, *shared, "run.name=stopped")
    pretrain(tmp_path, *shared, "run.name=stopped")
    assert metrics(straight) == metrics(stopped)
    weights = [(run / "model/model.safetensors").read_bytes() for run in (straight, stopped)]
    assert weights[0] == weights[1]


def test_changed_phases_under_one_name_are_refused_in_words(tmp_path, capsys):
    pretrain(tmp_path, PHASES, "run.name=mine")
    pretrain(tmp_path, "run.name=mine", expect=2)
    assert "phases=[{'until': 0.4" in capsys.readouterr().err


def test_a_phase_that_does_not_fit_is_told_before_any_work(tmp_path, capsys):
    pretrain(tmp_path, "phases=[{until: 0.5, max_length: 16}, {max_length: 600}]", expect=2)
    assert "phases[1]: max_length=600 needs 600 positions" in capsys.readouterr().err
    pretrain(tmp_path, "trainer.accumulate=4", "phases=[{until: 0.5, batch.size: 6}, {}]", expect=2)
    assert "batch.size=6 cannot be cut" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_the_model_knows_the_longest_rows(tmp_path, capsys):
    pretrain(tmp_path, "phases=[{until: 0.5}, {max_length: 64}]", "run.name=long")
    sentence = " ".join(["the cat"] * 20 + ["[MASK]"])
    assert main(["fill", f"checkpoint={tmp_path}/runs/long", sentence]) == 0
    assert json.loads((tmp_path / "runs/long/summary.json").read_text())["status"] == "finished"
