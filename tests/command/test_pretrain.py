"""`ptcli pretrain` from end to end, on a toy."""

import json
import random
import signal

import numpy as np
import pytest
import yaml

from ptcli.cli import main
from tests.command.toy import corpus, metrics, run_folder, settings, start
from tests.waiting import finish, until_file


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more, expect=0):
    assert main(["pretrain", *settings(folder, *more)]) == expect


def test_a_run_folder_holds_what_the_design_names(tmp_path):
    pretrain(tmp_path)
    run = run_folder(tmp_path)
    assert run.name.startswith("bert-token-")
    for name in ("config.yaml", "overrides.txt", "metrics.jsonl", "summary.json", "checkpoints/latest"):
        assert (run / name).is_file(), name
    for name in ("model.safetensors", "config.yaml", "tokenizer/tokenizer.json", "token_counts.npy"):
        assert (run / "model" / name).is_file(), name
    summary = json.loads((run / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["step"] == 4
    assert summary["plateau"] in (True, False)
    names = {name for line in metrics(run) for name in line}
    assert names >= {
        "step", "train/loss", "train/masked_lm_loss", "train/masked_lm_accuracy", "train/mask_ratio",
        "train/mask_ratio_asked", "train/learning_rate", "train/grad_norm", "eval/masked_lm_loss", "eval/own_mask_loss",
        "eval/unigram_loss", "eval/no_context_loss", "eval/difficulty",
    }  # fmt: skip
    assert "train/tokens_per_second" in (run / "metrics.jsonl").read_text()
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert config["mask"]["ratio"] == 0.15
    assert "${" not in (run / "config.yaml").read_text()
    assert "mask.ratio" not in (run / "overrides.txt").read_text()


def test_the_same_command_finds_its_run_finished(tmp_path, capsys):
    pretrain(tmp_path)
    before = (run_folder(tmp_path) / "metrics.jsonl").read_bytes()
    capsys.readouterr()
    pretrain(tmp_path)
    assert "is finished" in capsys.readouterr().err
    assert (run_folder(tmp_path) / "metrics.jsonl").read_bytes() == before


def test_another_configuration_is_another_folder_and_a_named_one_is_refused(tmp_path, capsys):
    pretrain(tmp_path, "run.name=mine", "budget.steps=1")
    pretrain(tmp_path, "run.name=mine", "budget.steps=1", "mask.ratio=0.3", expect=2)
    told = capsys.readouterr().err
    assert "mask.ratio=0.15 there, 0.3 now" in told
    assert "run.name=NAME" in told
    pretrain(tmp_path, "run.name=mine", "budget.steps=1", "mask.ratio=0.3", "resume=never")
    assert (tmp_path / "runs" / "mine" / "previous-1" / "metrics.jsonl").is_file()


def test_a_larger_budget_goes_on_from_where_the_run_ended(tmp_path):
    pretrain(tmp_path)
    pretrain(tmp_path, "budget.steps=6")
    assert [line["step"] for line in metrics(run_folder(tmp_path)) if "train/loss" in line] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("mask", ["token", "span", "whole_word"])
def test_the_ratio_asked_for_is_the_ratio_measured(tmp_path, mask):
    pretrain(tmp_path, f"mask={mask}", "mask.ratio=0.4", "budget.steps=20", "eval.every=0", "save.every=0")
    lines = [line for line in metrics(run_folder(tmp_path)) if "train/mask_ratio" in line]
    assert {line["train/mask_ratio_asked"] for line in lines} == {0.4}
    assert np.mean([line["train/mask_ratio"] for line in lines]) == pytest.approx(0.4, abs=0.015)


@pytest.mark.parametrize(("pair", "packing"), [("next_sentence", "segment_pair"), ("sentence_order", "best_fit")])
def test_pairs_train_and_are_evaluated(tmp_path, pair, packing):
    pretrain(tmp_path, "model=albert", "model.embedding_size=16", f"pair={pair}", f"packing={packing}")
    line = {name: value for line in metrics(run_folder(tmp_path)) for name, value in line.items()}
    assert 0 < line["train/pair_loss"] < 2
    assert 0 < line["eval/pair_loss"] < 2
    assert 0 <= line["eval/pair_accuracy"] <= 1


def test_accumulation_changes_nothing_but_rounding(tmp_path):
    pretrain(tmp_path, "run.name=whole", "model.dropout=0", "model.attention_dropout=0", "trainer.accumulate=1")
    pretrain(tmp_path, "run.name=parts", "model.dropout=0", "model.attention_dropout=0", "trainer.accumulate=4")
    whole, parts = (metrics(tmp_path / "runs" / name) for name in ("whole", "parts"))
    for a, b in zip(whole, parts, strict=True):
        assert a["step"] == b["step"]
        for name in ("train/loss", "train/grad_norm", "eval/masked_lm_loss"):
            assert (name in a) == (name in b)
            assert a.get(name, 0) == pytest.approx(b.get(name, 0), rel=1e-4)


def test_the_fixed_evaluation_is_the_same_for_every_mask_and_packing(tmp_path):
    unigram = set()
    for number, words in enumerate((["mask=token"], ["mask=span", "mask.ratio=0.5"], ["packing=full_sentences"])):
        pretrain(tmp_path, *words, f"run.name=r{number}", "budget.steps=1")
        unigram.add(
            json.loads((tmp_path / "runs" / f"r{number}" / "summary.json").read_text())["metrics"]["eval/unigram_loss"]
        )
    assert len(unigram) == 1


def test_training_from_another_runs_weights(tmp_path, capsys):
    pretrain(tmp_path, "run.name=first")
    pretrain(tmp_path, "run.name=second", f"checkpoint={tmp_path}/runs/first", "pair=sentence_order", "budget.steps=1")
    told = capsys.readouterr().out
    assert "starting random" in told
    assert "pair_head" in told
    pretrain(tmp_path, "run.name=third", f"checkpoint={tmp_path}/runs/first", "tokenizer.vocab_size=100", expect=2)
    assert "another tokenizer" in capsys.readouterr().err
    pretrain(tmp_path, "run.name=fourth", f"checkpoint={tmp_path}/runs/first", "model.hidden_size=64", expect=1)
    assert "does not fit this model" in capsys.readouterr().err


def test_nothing_is_made_where_the_corpus_is_absent(tmp_path, capsys):
    words = [word for word in settings(tmp_path) if not word.startswith("corpus.path")]
    assert main(["pretrain", *words, f"corpus.path={tmp_path}/absent.txt"]) == 2
    assert "absent.txt" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_wrong_value_is_told_in_a_line_and_ends_with_2(tmp_path, capsys):
    pretrain(tmp_path, "mask.ratio=15", expect=2)
    assert "write 0.15" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_sweep_is_three_folders_three_wandb_runs_and_one_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [*settings(tmp_path), "mask.ratio=0.15,0.3,0.4", "budget.steps=20", "eval.every=0", "logger=wandb"]
    words = [word for word in words if word not in ("budget.steps=4", "eval.every=2")]
    assert main(["pretrain", "-m", *words]) == 0
    runs = [p for p in (tmp_path / "runs").iterdir() if not p.name.startswith(".")]
    assert len(runs) == 3
    groups, measured = set(), {}
    for run in runs:
        offline = list((run / "wandb").rglob("offline-run-*"))
        assert len([p for p in offline if p.is_dir()]) == 1
        ratio = yaml.safe_load((run / "config.yaml").read_text())["mask"]["ratio"]
        lines = [line for line in metrics(run) if "train/mask_ratio" in line]
        measured[ratio] = np.mean([line["train/mask_ratio"] for line in lines])
        groups.add(json.dumps(yaml.safe_load((run / "config.yaml").read_text())["sweep"]))
    assert sorted(measured) == [0.15, 0.3, 0.4]
    for asked, got in measured.items():
        assert got == pytest.approx(asked, abs=0.015)
    assert len(groups) == 1
    assert "null" not in groups.pop()


def test_chinese_with_gold_words(tmp_path):
    pytest.importorskip("rjieba")
    words = [word for word in settings(tmp_path) if not word.startswith("corpus")]
    words += ["corpus=builtin_zh", "words=gold", "mask=whole_word", "tokenizer.vocab_size=2000", "budget.steps=2"]
    words.remove("tokenizer.vocab_size=120")
    words.remove("budget.steps=4")
    assert main(["pretrain", *words]) == 0
    lines = [line for line in metrics(run_folder(tmp_path)) if "train/mask_ratio" in line]
    assert np.mean([line["train/mask_ratio"] for line in lines]) == pytest.approx(0.15, abs=0.04)


def kill_when(process, run, step):
    """Send SIGKILL once `step` is logged."""
    until_file(run / "metrics.jsonl", f'"step": {step}', while_runs=process)
    process.kill()
    finish(process)


@pytest.mark.parametrize("attempt", range(2))
def test_a_killed_run_ends_as_an_undisturbed_one(tmp_path, attempt):
    seed = random.SystemRandom().randrange(2**32)
    print("seed of the moments:", seed)
    moments = sorted(random.Random(seed).sample(range(1, 11), 2))
    corpus(tmp_path)
    shared = ["budget.steps=12", "pair=sentence_order", "mask=span"]
    pretrain(tmp_path, *shared, "run.name=straight")
    straight, killed = (tmp_path / "runs" / name for name in ("straight", "killed"))
    for moment in moments:
        kill_when(start(["pretrain", *settings(tmp_path, *shared, "run.name=killed")], tmp_path), killed, moment)
    pretrain(tmp_path, *shared, "run.name=killed")
    assert metrics(straight) == metrics(killed), moments
    assert (straight / "model" / "model.safetensors").read_bytes() == (
        killed / "model" / "model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint_and_the_command_that_goes_on(tmp_path, number, code):
    words = settings(tmp_path, "budget.steps=1000000", "run.name=stopped", "save.every=0", "eval.every=0")
    process = start(["pretrain", *words], tmp_path)
    run = tmp_path / "runs" / "stopped"
    until_file(run / "metrics.jsonl", '"step": 3', while_runs=process)
    process.send_signal(number)
    ended_with, told = finish(process)
    assert ended_with == code, told
    assert "Go on with: ptcli pretrain" in told
    assert (run / "checkpoints" / "latest").is_file()
    assert json.loads((run / "summary.json").read_text())["status"] == "interrupted"
