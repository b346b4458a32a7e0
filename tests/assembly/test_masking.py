"""What a mask is given by the commands: counts, n-grams, named units, ids of tokens, the length of the run."""

import json
import sys

import numpy as np
import pytest

from ptcli.cache import cache_folder
from ptcli.cli import main
from tests.command.toy import corpus, metrics, run_folder, settings


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more, expect=0):
    assert main(["pretrain", *settings(folder, *more)]) == expect


def test_n_grams_are_counted_once_and_go_with_the_model(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    quick = ["mask=pmi", "mask.min_count=3", "mask.min_score=0.5", "budget.steps=2"]
    pretrain(tmp_path, *quick)
    (kept,) = cache_folder().glob("stores/*/ngrams-*.npy")
    found = np.load(kept)
    assert found.dtype == np.uint64
    assert len(found) > 20
    assert np.array_equal(np.load(run_folder(tmp_path) / "model" / "mask_ngrams.npy"), found)

    before = kept.stat().st_mtime_ns
    pretrain(tmp_path, *quick, "seed=2", "run.name=second")
    assert kept.stat().st_mtime_ns == before
    other = tmp_path / "other.txt"
    other.write_text(
        "The cat saw a dog near the old house. It ran to its friend.\n\nThe rain fell.\n", encoding="utf-8"
    )
    kept.unlink()
    assert main(["evaluate", f"checkpoint={tmp_path}/runs/second", "corpus=text", f"corpus.path={other}"]) == 0
    assert not list(cache_folder().glob("stores/*/ngrams-*.npy")), "the n-grams are those of the training"
    assert "own_mask_loss" in capsys.readouterr().out


LEARNING = """
from typing import Unpack

import numpy as np

from ptcli.mask.settings import MaskSettings
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units


class Pairs(MaskStrategy):
    needs = frozenset({"words"})
    learns = "pairs"
    learns_by = ("least",)

    def __init__(self, *, least: int = 3, pairs: np.ndarray | None = None, **settings: Unpack[MaskSettings]):
        super().__init__(**settings)
        self.least, self.pairs = least, pairs

    def learn(self, shards, documents, *, vocabulary):
        print("reads the text")
        tokens = np.concatenate([np.asarray(shards[part.shard].tokens, np.int64) for part in documents])
        found, counts = np.unique(tokens[:-1] * vocabulary.size + tokens[1:], return_counts=True)
        return found[counts >= self.least]

    def partition(self, examples, *, key, step):
        assert self.pairs is not None and len(self.pairs) > 10
        return word_units(examples), word_units(examples)
"""


def test_what_a_mask_of_your_own_learns_is_kept_as_n_grams_are(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    name = f"learning_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(LEARNING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    own = [f"plugins=[{name}]", f"mask._target_={name}.Pairs", "budget.steps=2"]
    pretrain(tmp_path, *own)
    (kept,) = cache_folder().glob("stores/*/pairs-*.npy")
    assert np.array_equal(np.load(run_folder(tmp_path) / "model" / "mask_pairs.npy"), np.load(kept))
    pretrain(tmp_path, *own, "seed=2", "run.name=second")
    assert capsys.readouterr().out.count("reads the text") == 1
    pretrain(tmp_path, *own, "+mask.least=4", "run.name=third")
    assert capsys.readouterr().out.count("reads the text") == 1, "another setting, another array"
    assert len(list(cache_folder().glob("stores/*/pairs-*.npy"))) == 2


def test_a_text_without_n_grams_says_what_to_type(tmp_path, capsys):
    pretrain(tmp_path, "mask=pmi", "mask.min_count=200", expect=2)
    assert "no n-gram of the text occurs mask.min_count=200 times" in capsys.readouterr().err


def test_tokens_that_are_never_selected(tmp_path):
    pretrain(tmp_path, "mask.never=[the,cat]", "mask.ratio=0.4", "budget.steps=10")
    measured = [line["train/mask_ratio"] for line in metrics(run_folder(tmp_path)) if "train/mask_ratio" in line]
    assert np.mean(measured) == pytest.approx(0.4, abs=0.01), "a share of what may be selected"


def test_a_token_that_does_not_exist_is_refused_with_its_pieces(tmp_path, capsys):
    pretrain(tmp_path, "mask.never=[catdog]", expect=2)
    assert "mask.never: 'catdog' is no token of the tokenizer; it is made of" in capsys.readouterr().err


def test_a_ratio_that_changes_follows_the_steps_and_is_constant_in_evaluations(tmp_path):
    pretrain(tmp_path, "mask.ratio=0.5", "mask.later_ratios=[0.1]", "mask.ratio_schedule=linear", "budget.steps=4")
    lines = metrics(run_folder(tmp_path))
    asked = [line["train/mask_ratio_asked"] for line in lines if "train/mask_ratio_asked" in line]
    assert asked == pytest.approx([0.5, 0.4, 0.3, 0.2])
    measured = [line["train/mask_ratio"] for line in lines if "train/mask_ratio" in line]
    assert measured == pytest.approx(asked, abs=0.03)
    bounds = [line["eval/no_context_loss"] for line in lines if "eval/no_context_loss" in line]
    assert len(bounds) == 2
    assert bounds[0] == bounds[1], "the same positions at every evaluation"


def test_a_budget_that_counts_no_steps_is_refused(tmp_path, capsys):
    given = ["mask.later_ratios=[0.1]", "mask.ratio_schedule=linear", "budget.steps=null", "budget.minutes=1"]
    pretrain(tmp_path, *given, expect=2)
    assert "mask.later_ratios=[0.1] follows the optimiser steps" in capsys.readouterr().err
    assert main(["check", *settings(tmp_path, *given, "mask.schedule_steps=50")]) == 0


def test_named_units_of_a_file_in_stages(tmp_path):
    text = corpus(tmp_path).read_text(encoding="utf-8").split("\n\n")
    spans = tmp_path / "spans.jsonl"
    lines = [
        {"document": number, "spans": [[found, found + 7, "entity"]]}
        for number, document in enumerate(text)
        if (found := document.find("old hou")) >= 0 or (found := document.find("the old")) >= 0
    ]
    assert len(lines) > 10
    spans.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    staged = ["mask.levels=[basic,entity]", "mask.schedule_steps=4"]
    pretrain(tmp_path, "words=spans", f"words.path={spans}", "mask=phrase", *staged)
    assert run_folder(tmp_path).name.startswith("bert-phrase-")


@pytest.mark.parametrize("mask", ["frequency", "bert_exact", "spanbert_exact"])
def test_masks_that_ask_for_counts_train_and_are_evaluated(mask, tmp_path):
    pretrain(tmp_path, f"mask={mask}", "budget.steps=2")
    last = metrics(run_folder(tmp_path))[-1]
    assert np.isfinite(last["eval/no_context_loss"])


def test_both_budgets_of_a_permuting_mask_are_scored(tmp_path):
    pretrain(tmp_path, "mask=ngram", "mask.permute=true", "mask.ratio=0.2", "budget.steps=3")
    lines = [line for line in metrics(run_folder(tmp_path)) if "train/mask_ratio" in line]
    assert lines[0]["train/mask_ratio_asked"] == pytest.approx(0.4)
    assert np.mean([line["train/mask_ratio"] for line in lines]) == pytest.approx(0.4, abs=0.03)
