import os
import subprocess
import sys

import pytest

import ptcli
from ptcli.cli import main
from ptcli.config.command import commands

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(ptcli.__file__)))


def shell(*words, **environment):
    """Run the command line as its own process, without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "ptcli", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_overview_lists_every_command(words, capsys):
    assert main(words) == 0
    told = capsys.readouterr().out
    for command in commands():
        assert f"  {command.name} " in told
        assert command.line in told


@pytest.mark.parametrize(
    "words",
    [["help", "pretrain"], ["-h", "pretrain"], ["pretrain", "help"], ["pretrain", "--help"], ["pretrain", "-h"]],
)
def test_help_of_a_command(words, capsys):
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "token*" in told  # the default choice
    assert "seed=1 " in told
    assert "budget.minutes=null" in told
    assert "examples:" in told
    assert len(told.splitlines()) < 140


@pytest.mark.parametrize("command", [command.name for command in commands()])
def test_every_command_has_help_and_code(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"usage: ptcli {command}" in capsys.readouterr().out
    assert os.path.isfile(os.path.join(ROOT, "ptcli", "command", f"{command}.py"))


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ptcli {ptcli.__version__}\n"


def test_an_unknown_command(capsys):
    assert main(["pretran", "seed=1"]) == 2
    told = capsys.readouterr().err
    assert "Did you mean pretrain?" in told
    assert "evaluate" in told


@pytest.mark.parametrize("words", [["seed=1", "pretrain"], ["-m", "pretrain"]])
def test_the_command_comes_first(words, capsys):
    assert main(words) == 2
    assert "the command comes first" in capsys.readouterr().err


def test_a_usage_error_is_one_line_on_stderr():
    done = shell("pretrain", "mask.ratio=15%")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "ptcli: mask.ratio=15%: shares are written as numbers. Write mask.ratio=0.15\n"


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m ptcli options | head -1; {sys.executable} -m ptcli pretrain --help | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ptcli ", "pretrain"),
        ("ptcli pre", "prepare"),
        ("ptcli pretrain mod", "model."),
        ("ptcli pretrain model=", "model=albert"),
        ("ptcli pretrain mask=sp", "mask=span"),
        ("ptcli pretrain mask.r", "mask.ratio="),
        ("ptcli pretrain seed=1 model/pos", "model/position="),
        ("ptcli options ma", "mask"),
        ("ptcli help ", "fill"),
    ],
)
def test_tab_completion(line, offered, monkeypatch, capsys):
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    assert main(["-sc", "query=bash"]) == 0
    assert offered in capsys.readouterr().out.split()


def test_tab_completion_can_be_installed(capsys):
    assert main(["-sc", "install=bash"]) == 0
    told = capsys.readouterr().out
    assert "complete" in told
    assert told.rstrip().endswith("ptcli")


def test_words_of_fill_may_hold_an_equals_sign_behind_a_space(capsys):
    assert main(["fill", "is 1 + 1 = 2 the [MASK]?"]) == 2  # read as a sentence: what is missing is the checkpoint
    assert "checkpoint=RUN" in capsys.readouterr().err
