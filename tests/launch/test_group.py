"""Ranks that torchrun and srun start: rank 0 does the command, the others follow it."""

import json
import socket
import sys

import pytest

from tests.launch.commands import PTCLI, TORCHRUN, Commands
from tests.waiting import finish_all


@pytest.fixture
def commands(tmp_path):
    return Commands(tmp_path)


def summary(run):
    return json.loads((run / "summary.json").read_text())


@pytest.mark.distributed
def test_torchrun_makes_one_run_and_goes_on_after_a_rank_was_killed(commands):
    words = ["budget.steps=12", "run.name=restarted", "save.every=2"]
    command = [*TORCHRUN, "--max-restarts", "1", "-m", "ptcli"]
    code, printed = commands.run(command, *words, FAULT="kill", FAULTY_RANK="1")
    assert code == 0, printed
    assert "going on from step" in printed
    assert printed.count("the model is in") == 1
    assert sorted(path.name for path in commands.runs.iterdir()) == ["restarted"]
    assert summary(commands.runs / "restarted")["step"] == 12
    lines = (commands.runs / "restarted" / "metrics.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == sorted(steps)


@pytest.mark.distributed
@pytest.mark.slow
def test_torchrun_does_all_jobs_of_a_sweep_with_one_group(commands):
    code, printed = commands.run([*TORCHRUN, "-m", "ptcli"], "budget.steps=4", "-m", "seed=1,2")
    assert code == 0, printed
    assert printed.count("2 of 2 jobs done") == 1
    assert printed.count("the model is in") == 2


@pytest.mark.distributed
@pytest.mark.slow
def test_torchrun_tells_a_wrong_configuration_once(commands):
    code, printed = commands.run([*TORCHRUN, "-m", "ptcli"], "batch.size=9")
    assert code == 1
    assert printed.count("batch.size=9 rows cannot be divided among 2 devices") == 1
    assert not commands.runs.exists()


# What a launcher of Hydra's for clusters does: it calls the job itself, in every task.
CALLED = """
import sys
from ptcli.config.compose import compose
from ptcli.config.context import Context
from ptcli.launch.run import run_job, speak
words = [word for word in sys.argv[1:] if word != "pretrain"]
composed = compose("pretrain", words)
speak()
run_job(composed.config, Context("pretrain", (), tuple(words), composed.choices))
"""


@pytest.mark.distributed
@pytest.mark.parametrize(
    "command", [PTCLI, pytest.param([sys.executable, "-c", CALLED], marks=pytest.mark.slow)], ids=["typed", "called"]
)
def test_sruns_variables_make_a_group(commands, command):
    """As srun sets them for two tasks on one host; there is no SLURM here."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    shared = {
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "SLURM_NODEID": "0",
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_ID": "0",
        "MASTER_PORT": port,
    }
    words = ["budget.steps=4", "run.name=srun", "trainer.strategy=fsdp"]
    processes = [
        commands.start(command, *words, SLURM_PROCID=str(rank), SLURM_LOCALID=str(rank), **shared) for rank in (0, 1)
    ]
    (code, printed, _), (other_code, other, _) = finish_all(processes)
    assert (code, other_code) == (0, 0), printed + other
    assert "2 x CPU (fsdp)" in printed
    assert other == ""
    assert summary(commands.runs / "srun")["step"] == 4
