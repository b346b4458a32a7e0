import pytest

from ptcli.cli import main
from ptcli.config import choices


def told(capsys, *words):
    assert main(["options", *words]) == 0
    return capsys.readouterr().out


def test_all_groups_are_listed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = told(capsys)
    for group in choices.groups():
        assert any(line.startswith(group + " ") for line in text.splitlines()), group


def test_a_group_shows_choices_keys_defaults_and_meanings(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = told(capsys, "mask")
    assert "token (default)" in text
    assert "arXiv" in text
    assert "mask.ratio" in text
    assert "0.15" in text
    lines = {line.split()[0]: line for line in text.splitlines() if line.split()}
    assert " part " in lines["span"]
    assert " preset " in lines["static"]


def test_a_nested_group(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = told(capsys, "model/position")
    assert "rotary" in text
    assert "model.position.rotary.base" in text
    assert told(capsys, "model.position") == text


@pytest.mark.parametrize(
    ("word", "says"),
    [("masc", "Did you mean mask?"), ("position", "model/position"), ("span", "span is a choice of mask")],
)
def test_unknown_groups(word, says, capsys):
    assert main(["options", word]) == 2
    assert says in capsys.readouterr().err


def test_narrow_terminals(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = told(capsys, "mask")
    assert max(len(line) for line in text.splitlines()) <= 40


def test_no_colours_in_a_pipe(capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b" not in told(capsys, "mask")


def test_flags_are_refused(capsys):
    assert main(["options", "--all"]) == 2
    assert "no flags" in capsys.readouterr().err
