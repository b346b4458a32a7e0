"""`ptcli finetune task=[a,b,c]`: one encoder learns all, each reports and answers for itself, and goes on bitwise."""

import json
import re
import shutil

import pytest
import torch

from ptcli.cli import main
from ptcli.finetuning.model import load_fine_tuned
from ptcli.task.classification import Classification
from ptcli.trainer.weights import read_tensors
from tests.command.several import NAMES, finetune, rows
from tests.command.toy import run_folder, settings


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return rows(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def joint(base, data, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    assert finetune(base, data, runs) == 0
    return runs / "joint"


@pytest.fixture(scope="module")
def then(base, data, tmp_path_factory):
    runs = tmp_path_factory.mktemp("then")
    assert finetune(base, data, runs, "task.then_epochs=1", "task.pretraining=0.25", "budget.epochs=2") == 0
    return runs / "joint"


def summary(run):
    return json.loads((run / "summary.json").read_text())


def tensors(folder):
    return read_tensors(folder / "model.safetensors")[0]


def lines(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_every_task_is_learnt_and_reported(joint):
    found = summary(joint)
    assert found["status"] == "finished"
    assert found["best"]["metric"] == "eval/mean"
    assert found["best"]["value"] > 0.8
    assert set(found["scores"]) == set(NAMES)
    best = {"notes": "accuracy", "numbers": "pearson", "tags": "f1"}
    values = [found["scores"][name]["validation"][metric][0] for name, metric in best.items()]
    assert found["best"]["value"] == pytest.approx(sum(values) / 3)
    logged = next(line for line in lines(joint) if "eval/mean" in line)
    assert {f"eval/{name}/{metric}" for name, metric in best.items()} <= logged.keys()
    trained = {key for line in lines(joint) for key in line}
    assert {f"train/{name}_loss" for name in NAMES} <= trained
    for name in NAMES:
        for file in ("errors.tsv", "report.html", "model/model.safetensors", "model/labels.json"):
            assert (joint / name / file).exists(), file


def test_each_answers_for_itself(joint, data, tmp_path, capsys):
    for name, file, column in (("numbers", "dev.tsv", "value"), ("tags", "dev.conll", "tags")):
        output = tmp_path / f"{name}.jsonl"
        given = [f"checkpoint={joint / name}", f"input={data / name / file}", f"output={output}"]
        assert main(["predict", *given]) == 0
        assert column in json.loads(output.read_text().splitlines()[0])
    assert main(["evaluate", f"checkpoint={joint / 'notes'}"]) == 0
    value = summary(joint)["scores"]["notes"]["validation"]["accuracy"][0]
    assert f"{value:.4f}" in capsys.readouterr().out


def test_a_tasks_own_model_is_the_joint_one_without_the_other_heads(joint):
    whole = tensors(joint / "model")
    for number, name in enumerate(NAMES):
        own = tensors(joint / name / "model")
        expected = {key: value for key, value in whole.items() if key.startswith("model.")}
        prefix = f"objective.members.{number}."
        expected |= {f"objective.{k.removeprefix(prefix)}": v for k, v in whole.items() if k.startswith(prefix)}
        assert own.keys() == expected.keys()
        assert all(torch.equal(own[key], expected[key]) for key in own)


@pytest.mark.parametrize("command", ["predict", "evaluate", "export"])
def test_the_joint_run_names_the_models_that_answer(joint, data, tmp_path, command, capsys):
    more = {"predict": [f"input={data / 'notes' / 'dev.tsv'}"], "export": [f"output={tmp_path / 'hf'}"]}
    assert main([command, f"checkpoint={joint}", *more.get(command, [])]) == 2
    said = capsys.readouterr().err
    assert all(f"checkpoint={joint / name}" in said for name in NAMES)


def test_the_same_command_says_that_it_is_finished(joint, base, data):
    before = (joint / "metrics.jsonl").read_bytes()
    assert finetune(base, data, joint.parent) == 0
    assert (joint / "metrics.jsonl").read_bytes() == before


def test_the_order_in_which_tasks_are_typed_means_nothing(base, data, tmp_path):
    words = ["budget.epochs=null", "budget.steps=3"]
    other = "task=[tags:token_classification,notes:classification,numbers:regression]"
    assert finetune(base, data, tmp_path / "one", *words) == 0
    assert finetune(base, data, tmp_path / "other", *words, tasks=other) == 0
    one, other = (tensors(tmp_path / name / "joint" / "checkpoints" / "step-00000003") for name in ("one", "other"))
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_it_goes_on_bitwise_where_it_stopped(base, data, tmp_path):
    """A run of a part of the budget that is given the rest, with pretraining among the tasks."""
    words = ["schedule=constant", "schedule.warmup=0", "budget.epochs=null", "task.pretraining=0.3", "eval.every=5"]
    assert finetune(base, data, tmp_path / "whole", *words, "budget.steps=25") == 0
    for steps in (7, 18, 25):
        assert finetune(base, data, tmp_path / "parts", *words, f"budget.steps={steps}") == 0
    one, other = (tensors(tmp_path / name / "joint" / "checkpoints" / "step-00000025") for name in ("whole", "parts"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_pretraining_goes_on_in_turns_and_each_task_alone_afterwards(then):
    found = summary(then)
    assert set(found["scores"]) == set(NAMES)
    assert "eval/masked_lm_loss" in found["metrics"]
    assert any(line.get("train/masked_lm_loss") for line in lines(then))
    for name in NAMES:
        own = summary(then / name)
        assert own["status"] == "finished"
        assert own["budget"] == {"epochs": 1}
        assert own["best"]["metric"].startswith("eval/")
        assert (then / name / "errors.tsv").exists()
    # what is alone began with the joint weights, the head among them
    joint, alone = tensors(then / "model"), tensors(then / "numbers" / "model")
    head = "head.classifier.weight"
    near = (alone[f"objective.{head}"] - joint[f"objective.members.1.{head}"]).abs().max()
    assert 0 < near < 0.1
    assert not [key for key in joint if "masked_lm" in key]


def test_more_joint_training_begins_the_rest_anew(then, base, data, tmp_path):
    shutil.copytree(then.parent, tmp_path / "runs")
    words = ["task.then_epochs=1", "task.pretraining=0.25", "budget.epochs=3"]
    assert finetune(base, data, tmp_path / "runs", *words) == 0
    for name in NAMES:
        assert (tmp_path / "runs" / "joint" / name / "previous-1" / "summary.json").exists()
    before = {name: (tmp_path / "runs" / "joint" / name / "metrics.jsonl").read_bytes() for name in NAMES}
    assert finetune(base, data, tmp_path / "runs", *words) == 0  # finished, all of it
    for name in NAMES:
        assert (tmp_path / "runs" / "joint" / name / "metrics.jsonl").read_bytes() == before[name]
        assert not (tmp_path / "runs" / "joint" / name / "previous-2").exists()


def test_what_a_task_settles_by_its_validation_rows_goes_with_its_model(base, data, tmp_path, monkeypatch):
    def settle(self, outputs, encoded, rows):
        self.settled = {"threshold": float(len(rows))}
        return ["threshold"]

    monkeypatch.setattr(Classification, "is_to_settle", True)
    monkeypatch.setattr(Classification, "settle", settle)
    words = ["budget.epochs=null", "budget.steps=2"]
    for _ in range(2):  # once more: finished, and the same
        assert finetune(base, data, tmp_path, *words) == 0
        found = load_fine_tuned(str(tmp_path / "joint" / "notes"))
        assert found.task.settled == {"threshold": 12.0}
        assert load_fine_tuned(str(tmp_path / "joint" / "numbers")).task.settled == {}


def test_another_task_begins_with_the_joint_encoder(joint, data, tmp_path):
    given = [f"checkpoint={joint}", "task=classification", f"task.path={data / 'notes'}", f"run.dir={tmp_path}"]
    short = ["max_length=32", "run.name=new", "budget.epochs=null", "budget.steps=1", "optimizer.learning_rate=1e-9"]
    assert main(["finetune", *given, *short, "trainer.precision=fp32"]) == 0
    there, here = tensors(joint / "model"), tensors(tmp_path / "new" / "model")
    for name in (key for key in here if key.startswith("model.")):
        torch.testing.assert_close(here[name], there[name], atol=1e-6, rtol=0)


def test_pretraining_and_several_tasks_in_one_command(cache, data, tmp_path):
    given = ["task=[numbers:regression,notes:classification]", "finetune.epochs=1", "finetune.max_length=32"]
    paths = [f"task.members.{name}.path={data / name}" for name in ("notes", "numbers")]
    words = settings(tmp_path, "budget.steps=2", "eval.every=0", *given, *paths, "task.pretraining=0.2")
    assert main(["pretrain", *words]) == 0
    run = run_folder(tmp_path) / "notes-numbers"
    assert set(summary(run)["scores"]) == {"notes", "numbers"}
    assert (run / "notes" / "model" / "labels.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task.members.notes.freeze_layers=1"], "Type task.freeze_layers=1"),
        (["task.members.numbers.label=worth"], "numbers: .*task.members.numbers.label=COLUMN"),
        (["task.members.numbers.metrics=[mean_squared_error]"], "falls as a model gets better"),
        (["task.pretraining=0.2", "random_weights=true"], "Use task.pretraining=0, or random_weights=false"),
        (["task.members.tags.labels=[O,I-MARK]"], "tags: labels that task.members.tags.labels="),
        (["task.members.notes/adversarial=fgm"], "only notes have it"),
        (["folds=2"], "folds=2 divides the rows of one task"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(base, data, tmp_path, words, message, capsys):
    assert finetune(base, data, tmp_path, *words) in (1, 2)
    assert re.search(message, capsys.readouterr().err)


def test_a_checkpoint_without_a_text_cannot_go_on_with_it(joint, data, tmp_path, capsys):
    assert finetune(joint, data, tmp_path, "task.pretraining=0.2") == 2
    assert "was fine-tuned, and has neither a masked-LM head nor a text" in capsys.readouterr().err
    assert main(["export", f"checkpoint={joint / 'notes'}", f"output={tmp_path / 'there'}"]) == 0
    assert finetune(tmp_path / "there", data, tmp_path, "task.pretraining=0.2") == 2
    assert "is a model of transformers', which does not say what text" in capsys.readouterr().err


def test_freezing_holds_for_all(base, data, tmp_path):
    words = ["task.freeze_layers=1", "task.freeze_embeddings=true", "task.then_epochs=0.3"]
    assert finetune(base, data, tmp_path, *words, "budget.epochs=null", "budget.steps=4", "task/mixing=equal") == 0
    before = tensors(base / "model")
    for after in (tensors(tmp_path / "joint" / "model"), tensors(tmp_path / "joint" / "tags" / "model")):
        same = {key for key in after if key in before and torch.equal(after[key], before[key])}
        assert {key for key in before if key.startswith("model.blocks.0.")} <= same
        assert "model.embeddings.tokens.weight" in same
        assert not {key for key in same if key.startswith("model.blocks.1.")} - {
            key for key in same if key.endswith("bias")
        }
