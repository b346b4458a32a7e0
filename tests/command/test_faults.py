"""What goes wrong while a run trains: data that fails, a full disk, signals at bad moments."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from ptcli.batch.loader import Loader
from ptcli.cli import main
from ptcli.logger.jsonl import Jsonl
from tests.command.toy import corpus, metrics, settings, start
from tests.trainer.test_loop import StopAt, StopError
from tests.waiting import finish, until, until_gone, until_line


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more, expect=0):
    assert main(["pretrain", *settings(folder, "run.name=run", *more)]) == expect


def summary(folder):
    return json.loads((folder / "runs/run/summary.json").read_text())


def test_a_data_thread_that_fails_ends_the_run_with_its_error(tmp_path, monkeypatch):
    lay_out = Loader._lay_out

    def fail(self, gathered, masked):
        fail.calls += 1
        if fail.calls > 40:
            raise ValueError("row 41 is broken")
        return lay_out(self, gathered, masked)

    fail.calls = 0
    with monkeypatch.context() as patch:
        patch.setattr(Loader, "_lay_out", fail)
        with pytest.raises(ValueError, match="row 41"):
            pretrain(tmp_path, "budget.steps=100")
    assert "row 41" in summary(tmp_path)["error"]
    pretrain(tmp_path, "budget.steps=100")  # and goes on when it is mended
    assert summary(tmp_path)["status"] == "finished"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
def test_a_full_disk_at_metrics_is_told_and_what_was_saved_stays(tmp_path, capsys):
    pretrain(tmp_path)
    run = tmp_path / "runs/run"
    (run / "metrics.jsonl").rename(run / "kept")
    (run / "metrics.jsonl").symlink_to("/dev/full")
    pretrain(tmp_path, "budget.steps=8", expect=1)
    told = capsys.readouterr().err
    assert "The disk is full" in told
    assert "Make room and go on with: ptcli pretrain" in told
    (run / "kept").rename(run / "metrics.jsonl")
    pretrain(tmp_path, "budget.steps=8")
    assert [line["step"] for line in metrics(run) if "train/loss" in line] == list(range(1, 9))


def test_a_gradient_that_is_not_finite_names_its_documents(tmp_path, capsys, monkeypatch):
    pretrain(
        tmp_path, "optimizer.learning_rate=1e30", "trainer.clip=null", "schedule.warmup=0", "model.dropout=0", expect=1
    )
    told = capsys.readouterr().err
    assert "is not finite at step" in told
    assert "it was fed rows" in told
    assert "of training documents" in told


def children(process):
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
    return [int(number) for number in found.stdout.split()]


def test_a_termination_while_text_is_tokenised_leaves_no_process_and_no_half(tmp_path, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    path = corpus(tmp_path)
    path.write_text((path.read_text() + "\n\n") * 400)
    process = start(["pretrain", *settings(tmp_path, "run.name=run", "prepare.workers=2")], tmp_path)
    until_line(process, "tokenising")
    until(lambda: len(children(process)) >= 2, "both processes are there", while_runs=process)
    workers = children(process)
    process.terminate()
    code, told = finish(process)
    assert code in (143, -signal.SIGTERM), told  # which a shell calls 143
    until_gone(workers)
    assert not list((tmp_path / "cache/stores").glob("*/manifest.json"))


@pytest.mark.parametrize("changed", ["corpus", "model.num_layers=1", "batch.size=2", "tokenizer.vocab_size=60"])
def test_what_may_not_change_under_a_run_is_refused_in_words(tmp_path, capsys, monkeypatch, changed):
    with monkeypatch.context() as patch:
        patch.setattr(Jsonl, "progress", StopAt(3).progress)
        with pytest.raises(StopError):
            pretrain(tmp_path)
    if changed == "corpus":
        path = tmp_path / "corpus.txt"
        path.write_text(path.read_text().replace("cat", "cow"))
        pretrain(tmp_path, expect=1)
        assert "was trained with another corpus" in capsys.readouterr().err
    else:
        pretrain(tmp_path, changed, expect=2)
        assert f"{changed.split('=')[0]}=" in capsys.readouterr().err
    pretrain(tmp_path, *([] if changed == "corpus" else [changed]), "resume=never")  # on request it begins anew
    assert summary(tmp_path)["status"] == "finished"
