import os
import subprocess
import sys

import pytest

from ptcli.errors import ConfigError
from ptcli.run.folder import RunFolder
from tests.waiting import finish, until_line

HOLDER = """
import sys
from pathlib import Path
from ptcli.run.folder import RunFolder
with RunFolder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_are_kept_apart_and_a_killed_one_leaves_the_lock_free(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "run")]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        until_line(holder, "held")
        with (
            pytest.raises(ConfigError, match=rf"process {holder.pid} on .*run\.name=NAME"),
            RunFolder(tmp_path / "run"),
        ):
            pass
    finally:
        holder.kill()
        finish(holder)
    with RunFolder(tmp_path / "run") as run:
        assert run.status is None


def test_two_in_one_process_are_kept_apart_too(tmp_path):
    with RunFolder(tmp_path), pytest.raises(ConfigError, match=f"process {os.getpid()}"), RunFolder(tmp_path):
        pass
    with RunFolder(tmp_path):
        pass


def test_a_folder_in_which_nothing_was_begun_is_removed(tmp_path):
    with RunFolder(tmp_path / "run"):
        pass
    assert not (tmp_path / "run").exists()
    with RunFolder(tmp_path / "run") as run:
        run.write_summary(status="running")
    assert (tmp_path / "run" / ".lock").exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"run\.dir"), RunFolder(tmp_path / "file/run"):
        pass


def test_summary_is_merged_and_plain(tmp_path):
    with RunFolder(tmp_path) as run:
        run.write_summary(status="running", loss=float("nan"), nested={"a": [float("inf"), 1]})
        run.write_summary(status="finished")
        assert run.summary() == {"status": "finished", "loss": None, "nested": {"a": [None, 1]}}
        (tmp_path / "summary.json").write_text("{")
        with pytest.raises(ConfigError, match=r"summary\.json"):
            run.summary()


def test_metrics_are_cut_back(tmp_path):
    with RunFolder(tmp_path) as run:
        assert run.metrics_length() == 0
        run.cut_metrics(5)
        run.metrics.write_text("12345678")
        run.cut_metrics(5)
        assert run.metrics.read_text() == "12345"
        run.cut_metrics(100)
        assert run.metrics_length() == 5


def test_the_ways_to_resume(tmp_path):
    with RunFolder(tmp_path) as run:
        with pytest.raises(ConfigError, match="resume=must"):
            run.begin("must")
        with pytest.raises(ConfigError, match="auto, must or never"):
            run.begin("always")
        assert run.begin("never") is None
        (run.checkpoints / "step-00000004").mkdir(parents=True)
        run.metrics.write_text("{}\n")
        assert run.begin("auto") is None
        assert run.begin("must") is None
        assert run.begin("never") == tmp_path / "previous-1"
        assert (tmp_path / "previous-1/checkpoints/step-00000004").is_dir()
        run.metrics.write_text("{}\n")
        assert run.begin("never") == tmp_path / "previous-2"
        assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "previous-1", "previous-2"]
