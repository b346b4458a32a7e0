import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.signals import StopSignals
from tests.trainer.test_loop import assert_equal
from tests.trainer.toy import train
from tests.waiting import HANG, end_of, finish, until_line

ROOT = Path(__file__).parents[2]


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.trainer.slow_run", str(folder), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder, train(folder)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_the_step_and_says_how_to_go_on(tmp_path, undisturbed, number, exit_code):
    process = start(tmp_path / "run")
    until_line(process, "step 6\n")
    process.send_signal(number)
    code, output = finish(process)
    assert code == exit_code, output
    assert "Go on with: ptcli pretrain" in output
    assert Checkpoints(tmp_path / "run/checkpoints").steps()[-1] >= 6
    assert json.loads((tmp_path / "run/summary.json").read_text())["status"] == "interrupted"
    assert (tmp_path / "run/model/model.safetensors").exists()
    assert_equal(tmp_path / "run", train(tmp_path / "run"), undisturbed)


def test_a_signal_breaks_off_an_evaluation_which_is_made_later(tmp_path, undisturbed):
    process = start(tmp_path / "run", "eval")
    until_line(process, "evaluating")
    process.terminate()
    code, output = finish(process)
    assert code == 143, output
    assert "evaluated" not in output
    assert Checkpoints(tmp_path / "run/checkpoints").steps()[-1] == 5
    assert_equal(tmp_path / "run", train(tmp_path / "run"), undisturbed)


def test_a_second_ctrl_c_leaves_at_once(tmp_path):
    stop = StopSignals()
    before = signal.getsignal(signal.SIGINT)
    with stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.requested == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert stop.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_handlers_are_restored_and_other_threads_have_none():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    failures = []

    def work():
        try:
            with StopSignals() as stop:
                assert stop.requested is None
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    end_of(thread)
    assert failures == []


def test_unless_stopped():
    with StopSignals() as stop:
        assert stop.unless_stopped(lambda: 3) == 3
        assert stop.unless_stopped(lambda: os.kill(os.getpid(), signal.SIGTERM) or time.sleep(HANG)) is None
        assert stop.unless_stopped(lambda: 3) is None
    assert stop.exit_code == 143


def kill_and_resume(folder, undisturbed, generator, times):
    for _ in range(times):
        process = start(folder)
        # a run that was killed after its last checkpoint has no step left, and prints none
        if any(line.startswith("step ") for line in process.stdout):
            time.sleep(generator.uniform(0, 0.6))  # any moment will do
        process.kill()
        finish(process)
    assert_equal(folder, train(folder), undisturbed)


def test_kill_at_random_moments_changes_nothing(tmp_path, undisturbed):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    kill_and_resume(tmp_path / "run", undisturbed, random.Random(seed), 3)


@pytest.mark.slow
def test_kill_at_many_random_moments_changes_nothing(tmp_path, undisturbed):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    generator = random.Random(seed)
    for number in range(10):
        kill_and_resume(tmp_path / f"run-{number}", undisturbed, generator, 3)
