"""`fill`, `evaluate`, `check` and `prepare` on a toy run."""

import json
import shutil

import pytest
import yaml

from ptcli.cli import main
from tests.command.toy import run_folder, settings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("others")
    patch = pytest.MonkeyPatch()
    patch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    assert main(["pretrain", *settings(folder)]) == 0
    yield run_folder(folder)
    patch.undo()


def test_fill_shows_as_many_guesses_as_asked_and_never_a_special_token(run, capsys):
    assert main(["fill", f"checkpoint={run}", "The cat saw a [MASK] near the [MASK].", "top=3"]) == 0
    told = capsys.readouterr().out
    assert told.count("%") == 6
    assert "mask 2" in told
    assert "[" not in told
    assert "the cat saw a" in told


def test_fill_calls_no_two_guesses_the_same(run, capsys):
    assert main(["fill", f"checkpoint={run}", "The cat saw a [MASK].", "top=200"]) == 0
    told = " ".join(capsys.readouterr().out.splitlines()[1:]).replace("guesses", "")
    guesses = [word for word in told.split() if not word.endswith("%")]
    assert any(guess.startswith("##") for guess in guesses)
    assert len(set(guesses)) == len(guesses) > 40


def test_fill_writes_byte_pieces_as_what_they_stand_for(tmp_path, capsys):
    assert main(["pretrain", *settings(tmp_path, "tokenizer=bpe", "tokenizer.vocab_size=300", "budget.steps=1")]) == 0
    capsys.readouterr()
    assert main(["fill", f"checkpoint={run_folder(tmp_path)}", "The cat saw a [MASK].", "top=300"]) == 0
    guesses = capsys.readouterr().out.splitlines()[1:]
    shown = " ".join(guesses)
    assert "house" in shown or "cat" in shown or "the" in shown
    assert "Ġ" not in shown.replace(" Ġ ", " ")  # the space alone has no other name


def test_fill_says_what_is_missing(run, capsys):
    assert main(["fill", f"checkpoint={run}", "Nothing to fill."]) == 2
    assert "there is no [MASK]" in capsys.readouterr().err
    assert main(["fill", "a [MASK]"]) == 2
    assert "checkpoint" in capsys.readouterr().err
    assert main(["fill", f"checkpoint={run.parent}/absent", "a [MASK]"]) == 2
    assert run.name in capsys.readouterr().err
    assert main(["fill", f"checkpoint={run}", "the cat " * 40 + "[MASK]"]) == 2
    assert "at most 32" in capsys.readouterr().err


def test_evaluate_repeats_the_runs_own_last_evaluation(run, capsys):
    words = ["eval.max_length=32", "eval.tokens=300", "trainer.precision=fp32"]
    assert main(["evaluate", f"checkpoint={run}", *words]) == 0
    told = capsys.readouterr().out
    last = json.loads((run / "summary.json").read_text())["metrics"]
    for name in ("eval/masked_lm_loss", "eval/unigram_loss", "eval/own_mask_loss", "eval/no_context_loss"):
        line = next(line for line in told.splitlines() if line.startswith(name))
        assert float(line.split()[1]) == pytest.approx(last[name], abs=2e-4), name


def test_evaluate_on_other_text(run, tmp_path, capsys):
    text = tmp_path / "other.txt"
    text.write_text("The old house.\n\nA dog ran to the river. The rain fell.\n" * 5)
    assert main(["evaluate", f"checkpoint={run}", f"corpus.path={text}"]) == 0
    assert "eval/masked_lm_loss" in capsys.readouterr().out


def test_check_says_how_large_the_model_is_and_trains_nothing(tmp_path, capsys):
    words = ["model=bert", "tokenizer.vocab_size=30522", "pair=next_sentence", "max_length=512", "packing=segment_pair"]
    words.append("measure=false")
    assert main(["check", *words, f"run.dir={tmp_path}/runs"]) == 0
    told = capsys.readouterr().out
    assert "110,106,428 at a vocabulary of 30,522" in told
    assert not (tmp_path / "runs").exists()


def test_check_refuses_what_training_would_refuse(tmp_path, capsys):
    assert main(["check", "pair=next_sentence", "packing=full_sentences"]) == 2
    assert "pair=next_sentence needs two segments" in capsys.readouterr().err
    assert main(["check", "model.num_heads=7"]) == 2
    assert "num_heads" in capsys.readouterr().err


def test_prepare_counts_what_is_in_the_corpus(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    words = [word for word in settings(tmp_path) if not word.startswith("run.dir")]
    assert main(["prepare", *words]) == 0
    told = capsys.readouterr().out
    for name in ("documents", "sentences", "words", "unknown tokens", "rows an epoch", "on disk"):
        assert name in told
    assert "120" in told


def test_a_strangers_run_folder_runs_no_code(run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "stranger")
    path = tmp_path / "stranger" / "model" / "config.yaml"
    config = yaml.safe_load(path.read_text())
    marker = tmp_path / "marker"
    config["model"]["norm"] = {"_target_": "subprocess.check_call", "args": ["touch", str(marker)]}
    config["plugins"] = ["subprocess"]
    path.write_text(yaml.safe_dump(config))
    assert main(["fill", f"checkpoint={tmp_path}/stranger", "a [MASK]"]) == 2
    told = capsys.readouterr()
    assert "is not run" in told.err
    assert "plugins" in told.err
    assert not marker.exists()
