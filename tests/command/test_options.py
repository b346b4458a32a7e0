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
    lines = {line.split()[0]: line for line in reversed(text.splitlines()) if line.split()}
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


def test_what_one_choice_changes_against_another(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = told(capsys, "recipe=roberta", "against=bert").splitlines()
    assert 8 <= len(lines) <= 18
    assert lines[0].split() == ["recipe=bert", "recipe=roberta"]
    found = {line.split()[0]: line for line in lines[1:]}
    assert "batch" in found
    assert "size 256" in found["batch"]
    assert "size 8,192" in found["batch"]
    assert "bert_exact" in found["mask"]
    assert "roberta_exact" in found["mask"]
    assert "next_sentence" in found["pair"]
    assert "learning_rate 0.0001" in found["optimizer"]
    assert "learning_rate 0.0006" in found["optimizer"]
    assert "seed" not in found


def test_against_works_for_every_group(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = told(capsys, "model=albert", "against=bert")
    assert "embedding_size" in text
    assert "model/sharing" in text
    assert "are the same" in told(capsys, "mask=token", "against=token")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["recipe", "against=bert"], "ptcli options recipe=roberta against=bert"),
        (["recipe=bert", "mask=token", "against=bert"], "ptcli options recipe=roberta against=bert"),
        (["recipe=bert", "against="], "ptcli options recipe=roberta against=bert"),
        (["recipe=bert", "against=brt"], "recipe=brt"),
        (["masc=bert", "against=token"], "Did you mean mask?"),
    ],
)
def test_against_refuses_what_it_cannot_compare(words, says, capsys):
    assert main(["options", *words]) == 2
    assert says in capsys.readouterr().err
