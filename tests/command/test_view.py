"""`ptcli view` on a toy corpus, held against what training is fed."""

import itertools
import json

import numpy as np
import pytest
from rich.cells import cell_len

from ptcli.assembly.data import make_data, training_loader
from ptcli.assembly.model import model_shape
from ptcli.assembly.text import prepare_text
from ptcli.cli import main
from ptcli.config import choices
from ptcli.config.compose import compose
from tests.command.toy import settings


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("view")


def view(folder, *words, expect=0):
    assert main(["view", *settings(folder, *words)]) == expect


def fed(words, steps):
    """The first rows of training: ids, labels and lengths, straight from its loader."""
    config = compose("pretrain", words).config
    store = prepare_text(config)
    data = make_data(config, store, store.tokenizer().vocabulary)
    loader = training_loader(config, data, model=model_shape(config), micro_size=config.batch.size, static_length=True)
    for step in itertools.islice(loader.steps(), steps):
        for batch in step.micro_batches:
            for ids, labels, used in zip(
                batch["input_ids"], batch["labels"], batch["attention_mask"].sum(1), strict=True
            ):
                yield ids[:used].tolist(), labels[:used].tolist()


@pytest.mark.parametrize(
    "words",
    [
        ["mask=span", "mask.ratio=0.3"],
        ["mask=whole_word", "pair=sentence_order", "packing=best_fit", "seed=5"],
        ["mask=static", "packing=full_sentences"],
    ],
    ids=" ".join,
)
def test_what_is_shown_is_what_training_is_fed(folder, tmp_path, words):
    output = tmp_path / "view.json"
    view(folder, *words, "show=7", "examples=1", "format=json", f"output={output}")
    told = json.loads(output.read_text(encoding="utf-8"))
    (name,) = told["statistics"]
    rows = list(itertools.islice(fed(settings(folder, *words), 2), 7))
    assert len(told["rows"]) == 7
    for row, (input_ids, labels) in zip(told["rows"], rows, strict=True):
        masks = [example["masks"][name] for example in row["examples"]]
        assert [id for mask in masks for id in mask["input_ids"]] == input_ids
        ids = [id for example in row["examples"] for id in example["ids"]]
        kinds = [kind for mask in masks for kind in mask["kinds"]]
        expected = [id if kind else -100 for id, kind in zip(ids, kinds, strict=True)]
        assert expected == labels


def test_statistics_cover_as_many_examples_as_asked(folder, capsys):
    view(folder, "show=0", "examples=20", "format=json")
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == []
    found = told["statistics"]["token"]
    assert 20 <= found["examples"] < 60
    assert found["ratio"] == pytest.approx(0.15, abs=0.02)


def test_an_epoch_smaller_than_asked_is_said(folder, capsys):
    view(folder, "show=1", "examples=1000000")
    assert "fewer than examples=1,000,000: all are measured" in capsys.readouterr().err


def test_terminal_pipe_and_narrow(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    view(folder, "mask=whole_word", "show=2", "examples=20", "pair=sentence_order")
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert max(map(cell_len, told.splitlines())) <= 40
    assert "pair: swapped" in told or "pair: in_order" in told
    assert "row 2" in told and "ratio measured" in told and "#" in told


def test_several_masks_on_the_same_text(folder, capsys):
    view(folder, "compare=[token,whole_word]", "mask.ratio=0.5", "show=1", "examples=20", "format=json")
    told = json.loads(capsys.readouterr().out)
    assert list(told["statistics"]) == ["token", "whole_word"]
    assert all(found["ratio_asked"] == pytest.approx(0.5) for found in told["statistics"].values())
    assert told["statistics"]["whole_word"]["words_whole"] == told["statistics"]["whole_word"]["words_touched"]
    for example in told["rows"][0]["examples"]:
        assert list(example["masks"]) == ["token", "whole_word"]


def test_a_typed_mask_comes_first_and_its_own_keys_stay_with_it(folder, capsys):
    view(folder, "mask=span", "mask.p=1", "compare=[token,span]", "show=0", "examples=20", "format=json")
    told = capsys.readouterr()
    found = json.loads(told.out)["statistics"]
    assert list(found) == ["span", "token"]
    assert "mask.p=1 is a key of span alone" in told.err
    assert list(found["span"]["units_by_words"]) == ["1"]


def test_a_page_is_written_and_said(folder, tmp_path, capsys):
    output = tmp_path / "view.html"
    view(folder, "compare=[token,span]", "show=1", "examples=20", "format=html", f"output={output}")
    assert f"written: {output}" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["format=html"], "output=view.html"),
        (["format=pdf"], "one of terminal, html, json"),
        (["output=a.html"], "type format=html"),
        (["output=absent/a.txt"], "there is no folder"),
        (["examples=0"], "examples=0: must be 1 or more"),
        (["compare=[token,spam]"], "Did you mean span?"),
        (["mask.ratio=15"], "write 0.15"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_is_read(folder, capsys, words, says):
    view(folder, *words, expect=2)
    told = capsys.readouterr()
    assert says in told.err
    assert "tokenising" not in told.err


def test_view_takes_what_pretrain_takes_and_changes_none_of_it():
    words = ["recipe=demo", "mask=span", "pair=sentence_order", "budget.minutes=2", "checkpoint=x", "max_length=64"]
    of_view, of_pretrain = compose("view", words).config, compose("pretrain", words).config
    own = {"show", "examples", "compare", "format", "output"}
    assert {key: value for key, value in of_view.items() if key not in own} == dict(of_pretrain)
    assert choices.default_choices("view") == choices.default_choices("pretrain")


def test_chinese_aligns(tmp_path, capsys, monkeypatch):
    pytest.importorskip("rjieba")
    monkeypatch.setenv("COLUMNS", "70")
    (tmp_path / "corpus.txt").write_text(
        "他累计休息只有五天半时间，每天从早上八点工作到晚上。\n研究自然语言处理。\n\n" * 20
    )
    words = ["words=chinese", "mask=whole_word", "mask.ratio=0.4", "mask.replace=[1,0,0]", "show=4", "examples=4"]
    view(tmp_path, *words)
    lines = capsys.readouterr().out.split("measured over")[0].splitlines()
    pairs = [(a, b) for a, b in itertools.pairwise(lines) if "_" in b and "[MASK]" not in b and "·" in a]
    assert pairs
    for text, signs in pairs:
        cells = np.array([letter for letter in text for _ in range(cell_len(letter))])
        places = [place for place, sign in enumerate(signs) if sign == "_"]
        assert max(places) < len(cells)
        # no sign under a space: words are whole, and what is between them is not selected
        assert not any(cells[place] == " " for place in places)
