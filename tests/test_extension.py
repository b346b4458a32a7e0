"""Parts from outside, as docs/extending.md has them word for word: no file of the product knows of any of them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from ptcli.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
OWN = ["plugins=[mine]", "--config-dir=conf"]
CHOICES = {"mask": "sentence", "model/attention": "fourier", "auxiliary": "gap"}
SMALL = ["model/size=tiny", "max_length=32", "batch.size=8", "eval.tokens=600", "trainer.threads=1", "model.dropout=0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the page, a text, and a cache, in the current folder."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in re.findall(r"^`([\w/]+\.\w+)`.*?:\n\n```\w+\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "mine" / "__init__.py").touch()
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    path = list(sys.path)
    sys.path.insert(0, str(folder))  # as the command line does, for the tests that do without it
    yield folder
    patch.undo()
    sys.path[:] = path
    for name in [name for name in sys.modules if name.split(".")[0] == "mine"]:
        del sys.modules[name]


def pretrain(folder, name, *words):
    assert main(["pretrain", *OWN, *SMALL, "budget.steps=4", "log.every=2", f"run.name={name}", *words]) == 0
    lines = (folder / "runs" / name / "metrics.jsonl").read_text("utf-8").splitlines()
    return {key: value for line in lines for key, value in json.loads(line).items()}


def composed(*words):
    from ptcli.config.compose import composer
    from ptcli.config.outside import Outside, bring

    with bring(Outside(("conf",))), composer("pretrain") as compose:
        config = compose([*SMALL, "tokenizer.vocab_size=1024", *words]).config
    config.plugins = ["mine"]
    return config


@pytest.mark.parametrize(("group", "name"), CHOICES.items())
def test_each_trains_and_is_evaluated(folder, group, name, capsys):
    """In the lines that a run begins with, metrics.jsonl, and what `ptcli evaluate` prints."""
    metrics = pretrain(folder, name, f"{group}={name}")
    first_lines = capsys.readouterr().out.partition("step 2")[0]
    one_a_row = "each example has a row of its own: the attention lets the examples of a row see each other"
    assert (one_a_row in first_lines) == (name == "fourier")
    assert metrics["eval/masked_lm_loss"] > 0
    assert metrics["train/mask_ratio"] == pytest.approx(metrics["train/mask_ratio_asked"], abs=0.02)
    assert ("train/gap_loss" in metrics) == ("eval/gap_loss" in metrics) == (name == "gap")
    assert main(["evaluate", OWN[0], f"checkpoint=runs/{name}", "eval.tokens=600"]) == 0
    assert ("eval/gap_accuracy" in capsys.readouterr().out) == (name == "gap")


def test_a_run_is_named_after_the_mask_and_its_line_brings_the_parts_again(folder, capsys):
    assert main(["pretrain", *OWN, *SMALL, "budget.steps=1", "eval.every=0", "mask=sentence"]) == 0
    assert capsys.readouterr().out.startswith("bert-sentence-")
    assert main(["view", *OWN, "mask=sentence", "show=0", "examples=10", "format=json"]) == 0
    line = json.loads(capsys.readouterr().out)["command"]
    assert line.startswith("ptcli view 'plugins=[mine]' --config-dir=conf mask=sentence")


def test_all_of_them_go_together(folder):
    metrics = pretrain(
        folder, "all", "mask=sentence", "model/attention=fourier", "auxiliary=[gap]", "auxiliary.gap.weight=2"
    )
    assert metrics["train/loss"] == pytest.approx(metrics["train/masked_lm_loss"] + 2 * metrics["train/gap_loss"])


def test_view_measures_the_mask_and_shows_what_is_asked(folder, capsys):
    words = ["show=1", "examples=3000", "format=json", *OWN, "mask=sentence", "auxiliary=gap"]
    assert main(["view", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    measured = told["statistics"]["sentence"]
    assert measured["ratio"] == pytest.approx(0.15, abs=0.005)
    assert sum(n * int(k) for k, n in measured["units_by_tokens"].items()) == measured["selected_tokens"]
    assert max(map(int, measured["units_by_tokens"])) > 10, "whole sentences"
    gaps = measured["gap_labels"]
    assert gaps["a gap"] / sum(gaps.values()) == pytest.approx(0.05, abs=0.01)
    assert told["rows"][0]["examples"][0]["labels"]["gap"].endswith("positions")


def test_check_knows_them(folder, capsys):
    words = [f"{group}={name}" for group, name in CHOICES.items()]
    assert main(["check", *OWN, *SMALL, "measure=false", *words]) == 0
    told = capsys.readouterr().out
    assert "bert-sentence-" in told
    assert "everything fits together" in told
    assert main(["check", *OWN, *SMALL, "measure=false", "auxiliary=gap", "auxiliary.gap.weigth=2"]) == 2
    assert "Did you mean auxiliary.gap.weight?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("group", "name", "key"),
    [
        ("mask", "sentence", "mask.ratio"),
        ("model/attention", "fourier", ""),
        ("auxiliary", "gap", "auxiliary.gap.noise.share 0.05 of the tokens, that are taken out"),
    ],
)
def test_options_help_completion_and_errors_know_them(folder, capsys, monkeypatch, group, name, key):
    monkeypatch.setenv("COLUMNS", "200")

    def told(*words, code=0):
        assert main(list(words)) == code
        return re.sub(" +", " ", "".join(capsys.readouterr()))

    listed = told("options", group, OWN[1])
    assert f"\n{name} your part " in listed
    described = told("options", f"{group}={name}", OWN[1])
    assert described.startswith(f"your part, conf/{group}/{name}.yaml: ")
    assert key in described
    assert name in re.search(rf"^{group} .*", told("options", OWN[1]), re.M)[0]
    assert f" {name}," in told("pretrain", "--help", *OWN)
    assert f" {name}," not in told("pretrain", "--help")
    assert f"Did you mean {name}?" in told("check", f"{group}={name[:-1]}", *OWN, code=2)
    assert f"conf/{group}/{name}.yaml is found by --config-dir=conf" in told("check", f"{group}={name}", OWN[0], code=2)
    assert "type plugins=[mine] on the command line" in told("check", f"{group}={name}", OWN[1], code=2)
    line = f"ptcli pretrain {' '.join(OWN)} {group}={name[:2]}"
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    assert f"{group}={name}" in told("-sc", "query=bash").split()


def test_the_rules_offer_them(folder, capsys):
    """What fits is looked for among the user's choices too, by the facts of their classes."""
    from ptcli.config.facts import Facts, fact
    from ptcli.config.outside import Outside, bring

    with bring(Outside(("conf",), ("mine",))):
        found = Facts({}, {}, plugins=("mine",)).others("model/attention", lambda cls: not fact(cls, "isolates", True))
    assert found == ["model/attention=fourier"]


def test_a_sub_command_is_run_listed_helped_and_swept(folder, capsys):
    assert main(["lengths", *OWN, "bins=4"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 4
    assert sum(int(line.split()[3].replace(",", "")) for line in told) > 2000
    assert main(["--help", OWN[0]]) == 0
    assert "  lengths    count the tokens of each document of a corpus" in capsys.readouterr().out
    assert main(["lengths", "--help", *OWN]) == 0
    assert "bins=8           lines of the histogram, 1 or more" in capsys.readouterr().out
    assert main(["lenghts", *OWN]) == 2
    assert "Did you mean lengths?" in capsys.readouterr().err
    assert main(["lengths", *OWN, "-m", "bins=1,2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_tests_of_the_page_pass(folder):
    assert {path.name for path in folder.glob("tests/**/test_*.py")} == {
        *("test_sentence.py", "test_fourier.py", "test_gap.py", "test_lengths.py")
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "tests"]
    product = os.pathsep.join([str(PAGE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": product}, capture_output=True, text=True, check=False
    )
    assert "6 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_the_words_side_is_a_function_of_the_example(folder):
    """The same gaps for an example in any batch, and the columns that follow it lose the same positions."""
    from ptcli.assembly.parts import part
    from ptcli.randomness import key_of
    from tests.mask.synthetic import examples, take

    noise, batch = part(composed("auxiliary=gap"), "auxiliary.gap.noise"), examples([30, 50, 8], seed=3)
    key = key_of(1, "noise.gap", 0)
    whole, alone = noise.before(batch, key=key), noise.before(take(batch, [1]), key=key)
    part_of = slice(whole.offsets[1], whole.offsets[2])
    assert np.array_equal(whole.tokens[part_of], alone.tokens)
    assert np.array_equal(whole["gap_labels"][part_of], alone["gap_labels"])
    removed = len(batch.tokens) - len(whole.tokens)
    assert 0 < removed < 15
    assert (whole["gap_labels"] == 1).sum() <= removed


@pytest.fixture(scope="module")
def data(folder):
    from ptcli.assembly.data import make_data
    from ptcli.assembly.text import prepare_text

    config = composed("model/attention=fourier", "auxiliary=gap", "eval.fraction=0.1")
    store = prepare_text(config)
    return config, make_data(config, store, store.tokenizer().vocabulary)


def loader_and_step(data, **settings):
    from ptcli.assembly.data import training_loader
    from ptcli.assembly.model import make_model

    config, made = data
    torch.manual_seed(0)
    step = make_model(config, made.vocabulary.size, made.pair).eval()
    given = {"micro_size": 4, "static_length": False, **settings}
    return training_loader(config, made, model=step.model, **given), step


def test_an_attention_that_mixes_a_row_has_one_example_in_it_everywhere(data):
    """Training, the fixed evaluation and that under the own mask; packed rows would leak, which is shown too."""
    from ptcli.assembly.evaluation import make_evaluation

    config, made = data
    loader, step = loader_and_step(data)
    evaluation = make_evaluation(config, made, model=step.model, counts=made.learnt["token_counts"], micro_size=4)
    rows = [next(loader.once()), *(next(one.once()) for one in evaluation._loaders.values())]
    for batch in rows:
        assert batch["sequence_ids"].max() == 1
        changed = {name: value.clone() for name, value in batch.items()}
        changed["input_ids"][0] = 7
        with torch.inference_mode():
            before, after = step.model(batch), step.model(changed)
        assert not torch.allclose(before[0], after[0])
        assert torch.equal(before[1:], after[1:])
    packed = {name: value.clone() for name, value in rows[0].items()}
    half = packed["input_ids"].shape[1] // 2
    packed["sequence_ids"][:, half:] = 2
    changed = {**packed, "input_ids": packed["input_ids"].clone()}
    changed["input_ids"][:, :half] = 7
    with torch.inference_mode():
        assert not torch.allclose(step.model(packed)[:, half:], step.model(changed)[:, half:])


def test_the_loss_is_counted_over_two_ranks(data):
    """The shares of two ranks' micro-batches add up to what one process has for the same step."""
    alone, step = loader_and_step(data, micro_size=8)
    steps = [next(alone.steps())]
    ranks = [next(loader_and_step(data, rank=rank, ranks=2)[0].steps()) for rank in range(2)]
    counts = {name: sum(each.counts[name] for each in ranks) for name in ranks[0].counts}
    assert counts["gap_labels"] == steps[0].counts["gap_labels"] > 0
    with torch.inference_mode():
        (whole,) = [sum(step(batch, each.counts)[0] for batch in each.micro_batches) for each in steps]
        shares = [step(batch, counts)[0] for each in ranks for batch in each.micro_batches]
    assert float(sum(shares)) == pytest.approx(float(whole), rel=1e-5)


@pytest.mark.distributed
def test_two_processes_train_as_one_does(folder):
    words = [
        "mask=sentence",
        "model/attention=fourier",
        "auxiliary=gap",
        "trainer.device=cpu",
        "trainer.precision=fp32",
    ]
    alone = pretrain(folder, "one-process", *words)
    together = pretrain(folder, "two-processes", *words, "trainer.devices=2")
    for name in ("train/masked_lm_loss", "train/gap_loss", "train/gap_accuracy", "train/mask_ratio", "eval/gap_loss"):
        assert together[name] == pytest.approx(alone[name], rel=1e-4), name
