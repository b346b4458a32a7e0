"""One command, several ranks on CPUs: runs, faults and signals from outside."""

import json
import signal
import sys

import pytest

from tests.launch.commands import PTCLI, Commands
from tests.waiting import finish, until, until_gone, until_line

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
TWO = "trainer.devices=2"


@pytest.fixture
def commands(tmp_path):
    return Commands(tmp_path)


def losses(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(line["step"], line.get("train/loss"), line.get("eval/masked_lm_loss")) for line in lines]


def summary(run):
    return json.loads((run / "summary.json").read_text())


@pytest.mark.distributed
def test_two_devices_are_one_run_with_the_losses_of_one_device(commands):
    words = ["budget.steps=6", "log.every=2", "model.dropout=0", "model.attention_dropout=0", "pair=next_sentence"]
    words += ["packing=segment_pair", "batch.group_by_length=true", "batch.micro_size=3"]
    code, printed = commands.run(PTCLI, *words, TWO, "run.name=two")
    assert code == 0, printed
    assert printed.count("the model is in") == printed.count("model: ") == 1
    assert "2 x CPU (ddp)" in printed
    assert sorted(path.name for path in commands.runs.iterdir()) == ["two"]  # nothing is left of the ranks
    assert commands.run_here(*words, "run.name=one") == 0
    for ours, theirs in zip(losses(commands.runs / "two"), losses(commands.runs / "one"), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)
    code, printed = commands.run(PTCLI, *words, TWO, "run.name=one", "budget.steps=8")
    assert code == 0, printed
    assert "going on from step 6" in printed  # devices do not make another run


@pytest.mark.distributed
@pytest.mark.parametrize(
    ("fault", "rank", "told"),
    [
        ("raise", "1", "rank 1 of 2 failed: RuntimeError: a fault of this rank's own"),
        ("kill", "1", "rank 1 of 2 was ended by SIGKILL"),
        pytest.param("kill", "0", "rank 0 of 2 was ended by SIGKILL", marks=pytest.mark.slow),
        pytest.param("raise", "0", "rank 0 of 2 failed: RuntimeError: a fault", marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_dies_is_named_and_none_is_left(commands, fault, rank, told):
    process = commands.start(
        PTCLI, TWO, "budget.steps=200", "run.name=faulty", "save.every=2", FAULT=fault, FAULTY_RANK=rank
    )
    printed = until_line(process, "evaluation reads")
    ranks = [commands.rank(number) for number in range(2)]
    code, more = finish(process)
    assert code == 1
    assert f"ptcli: {told}" in more, printed + more
    assert "gloo" not in more  # what the other rank saw of it is not told
    until_gone(ranks)
    assert told in summary(commands.runs / "faulty")["error"]
    assert (commands.runs / "faulty" / "checkpoints" / "latest").exists()
    traces = list((commands.runs / ".ranks").glob(f"*/rank-{rank}-traceback.txt"))
    assert len(traces) == (fault == "raise")
    if traces:
        assert "in faulty" in traces[0].read_text()


@pytest.mark.distributed
def test_a_signal_to_one_rank_makes_a_checkpoint_and_143(commands):
    process = commands.start(PTCLI, TWO, "budget.steps=1000000", "run.name=stopped")
    until_line(process, "step 10 ")
    ranks = [commands.rank(number) for number in range(2)]
    signal_to(ranks[1], signal.SIGTERM)
    code, printed = finish(process)
    assert code == 143, printed
    assert printed.count("Stopped at step") == 1
    step = summary(commands.runs / "stopped")["step"]
    assert f"Stopped at step {step}," in printed
    assert (commands.runs / "stopped" / "checkpoints" / "latest").read_text().strip() == f"step-{step:08d}"
    until_gone(ranks)


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command_stops_its_ranks(commands, number):
    process = commands.start(PTCLI, TWO, "budget.steps=1000000", "run.name=stopped")
    until_line(process, "step 10 ")
    ranks = [commands.rank(one) for one in range(2)]
    process.send_signal(number)
    code, printed = finish(process)
    assert code == 128 + number, printed
    assert summary(commands.runs / "stopped")["status"] == "interrupted"
    until_gone(ranks)


@pytest.mark.distributed
@pytest.mark.slow
def test_ranks_end_with_a_command_that_is_killed(commands):
    process = commands.start(PTCLI, TWO, "budget.steps=1000000", "run.name=stopped")
    until_line(process, "step 10 ")
    ranks = [commands.rank(one) for one in range(2)]
    process.kill()
    assert finish(process)[0] == -9
    until_gone(ranks)
    assert summary(commands.runs / "stopped")["status"] == "interrupted"


@pytest.mark.distributed
@pytest.mark.slow
def test_each_job_of_a_sweep_has_its_own_ranks(commands):
    code, printed = commands.run(PTCLI, TWO, "budget.steps=4", "-m", "seed=1,2")
    assert code == 0, printed
    assert "2 of 2 jobs done" in printed
    runs = [path for path in commands.runs.iterdir() if not path.name.startswith(".")]
    assert [summary(run)["step"] for run in runs] == [4, 4]


@pytest.mark.distributed
@pytest.mark.slow
def test_a_signal_before_training_ends_the_command(commands):
    process = commands.start(PTCLI, TWO, "budget.steps=1000000", "run.name=early")
    folder = commands.runs / ".ranks"
    until(lambda: len(list(folder.glob("*/process-*"))) == 2, "both ranks are there", while_runs=process)
    ranks = [commands.rank(one) for one in range(2)]
    signal_to(ranks[1], signal.SIGTERM)
    code, printed = finish(process)
    assert code == 143, printed
    until_gone(ranks)


def signal_to(process: int, number: int) -> None:
    import os

    os.kill(process, number)


@pytest.mark.parametrize("words", [["batch.size=9"], ["trainer.strategy=single"]])
def test_what_cannot_be_divided_is_told_before_a_rank_starts(commands, words, capfd):
    assert commands.run_here(TWO, *words) == 2
    told = capfd.readouterr()
    assert (told.out + told.err).count("ptcli: ") == 1
    assert not (commands.runs / ".ranks").exists()
