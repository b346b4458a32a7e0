import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from ptcli.logger.console import Console, duration, evaluation_in_words, training_in_words
from tests.waiting import HANG

ROOT = Path(__file__).parents[2]
TRAIN = {"train/loss": 5.4321, "train/masked_lm_accuracy": 0.1234, "train/tokens_per_second": 12345.6}

RUN = """
import sys, time
from pathlib import Path
from ptcli.logger.console import Console
sink = Console(every=float(sys.argv[1]))
sink.start(folder=Path("runs/x"), name="x", group=None, config={})
for step in range(1, 41):
    sink.progress(step=step, share=step / 40, seconds=step * 3.0)
    sink.log(step, {"train/loss": 5.0, "train/masked_lm_accuracy": 0.5, "train/tokens_per_second": 12345.0})
    if step % 20 == 0:
        sink.log(step, {"eval/masked_lm_loss": 4.0, "eval/unigram_loss": 6.0, "eval/tokens": 32768.0})
    time.sleep(float(sys.argv[2]))
sink.say("done 【x】 [bold]not markup[/bold]")
sink.finish("finished")
print("trained", file=sys.stderr)
"""


def test_words():
    assert training_in_words(TRAIN) == ["loss 5.432", "accuracy 12.3%", "12,346 tokens/s"]
    assert training_in_words({"train/loss": None, "train/pair_accuracy": None}) == []
    text = evaluation_in_words(1200, {"eval/masked_lm_loss": 4.0, "eval/unigram_loss": 5.99, "eval/pair_loss": None})
    assert text == "evaluation at step 1,200: masked lm loss 4.000, unigram loss 5.990"
    assert [duration(s) for s in (0.4, 59, 61, 3600, 7500, 100_000)] == [
        "0 s", "59 s", "1 min 01 s", "1 h 00 min", "2 h 05 min", "1 d 3 h",
    ]  # fmt: skip


def test_without_a_terminal_a_line_every_so_often(capsys, tmp_path):
    sink = Console(every=3600)
    sink.start(folder=tmp_path, name="run", group=None, config={})
    for step in range(1, 4):
        sink.progress(step=step, share=step / 4, seconds=10.0 * step)
        sink.log(step, TRAIN)
    sink.log(3, {"eval/masked_lm_loss": 4.0})
    sink.progress(step=4, share=1.0, seconds=40.0)
    sink.log(4, TRAIN)
    sink.finish("finished")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "step 1 (25%), loss 5.432, accuracy 12.3%, 12,346 tokens/s",
        "step 3 (75%), loss 5.432, accuracy 12.3%, 12,346 tokens/s, 10 s left",
        "evaluation at step 3: masked lm loss 4.000",
        "step 4 (100%), loss 5.432, accuracy 12.3%, 12,346 tokens/s, 0 s left",
    ]


def test_time_left_is_from_this_process_alone(capsys):
    sink = Console(every=0)
    sink.progress(step=51, share=0.50, seconds=1000.0)  # resumed
    sink.progress(step=52, share=0.51, seconds=1001.0)
    sink.log(52, TRAIN)
    assert capsys.readouterr().out.strip().endswith("49 s left")


def test_a_pipe_has_plain_lines_and_no_control_characters():
    result = subprocess.run(
        [sys.executable, "-c", RUN, "0", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"FORCE_COLOR": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout
    assert "\r" not in result.stdout
    assert "done 【x】 [bold]not markup[/bold]" in result.stdout


def test_a_closed_pipe_does_not_end_training():
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "0", "0.005"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(HANG) == 0
    assert error == "trained\n"


@pytest.mark.parametrize(
    ("width", "has_figures", "has_left"), [(120, True, True), (70, True, False), (24, False, False)]
)
def test_a_terminal_has_a_bar_that_fits(width, has_figures, has_left):
    env = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR",)} | {"TERM": "xterm", "NO_COLOR": "1"}
    env.pop("COLUMNS", None)
    child = pexpect.spawn(
        sys.executable,
        ["-c", RUN, "10", "0.02"],
        cwd=str(ROOT),
        env=env,
        dimensions=(24, width),
        encoding="utf-8",
        timeout=HANG,
    )
    output = child.read()
    child.wait()
    assert child.exitstatus == 0, output
    assert "step 40" in output
    assert ("loss 5.000" in output) == has_figures
    assert ("left" in output) == has_left
    # an evaluation is longer than a narrow screen: the terminal wraps it, and nothing of it is lost
    assert "evaluation at step 20: masked lm loss 4.000, unigram loss 6.000" in output
    assert "\x1b[3" not in output  # no colours under NO_COLOR
