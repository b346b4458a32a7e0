"""`ptcli pretrain corpus.streaming=true` from end to end, on a toy."""

import json

import pytest

from ptcli.cli import main
from tests.command.toy import metrics, settings


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more, expect=0):
    words = [*settings(folder), "corpus.streaming=true", "corpus.window=4000", "schedule=constant", "schedule.warmup=0"]
    words = [word for word in words if not word.startswith("budget")]
    assert main(["pretrain", *words, *more]) == expect


def test_an_interrupted_streamed_run_ends_with_the_same_weights(tmp_path, capsys):
    pretrain(tmp_path, "run.name=straight", "budget.steps=24")
    told = capsys.readouterr()
    assert "corpus.streaming: the first" in told.err + told.out
    assert "in the stream's first window" in told.out
    pretrain(tmp_path, "run.name=parts", "budget.steps=13")
    state = next((tmp_path / "runs/parts/checkpoints").glob("step-*13"))
    assert json.loads((state / "state.json").read_text())["state"]["position"]["place"]["window"] > 0
    pretrain(tmp_path, "run.name=parts", "budget.steps=24")
    straight, parts = (
        (tmp_path / "runs" / name / "model/model.safetensors").read_bytes() for name in ("straight", "parts")
    )
    assert straight == parts
    assert any("eval/masked_lm_loss" in line for line in metrics(tmp_path / "runs/straight"))


def test_a_stream_has_no_epochs(tmp_path, capsys):
    pretrain(tmp_path, "budget.epochs=2", expect=2)
    assert "Use budget.steps=NUMBER" in capsys.readouterr().err
