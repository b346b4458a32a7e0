"""`ptcli finetune`: it learns, keeps the best weights, goes on where it stopped, and says what does not fit."""

import csv
import json
import math
import shutil

import pytest
import torch

from ptcli.cli import main
from ptcli.finetuning.judge import Judge
from ptcli.finetuning.model import load_fine_tuned
from ptcli.trainer.weights import read_tensors
from tests.command.reviews import SETTINGS, finetune, text
from tests.command.toy import run_folder, settings


def summary(run):
    return json.loads((run / "summary.json").read_text())


def test_it_learns_and_leaves_a_run_folder(tuned):
    found = summary(tuned)
    assert found["status"] == "finished"
    assert found["best"]["metric"] == "eval/accuracy"
    assert found["best"]["value"] == 1.0
    value, low, high = found["scores"]["validation"]["accuracy"]
    assert (value, low, high) == (1.0, 1.0, 1.0)
    labels = json.loads((tuned / "model" / "labels.json").read_text())
    assert labels["labels"] == ["bad", "good"]
    assert labels["best"]["eval/accuracy"] == 1.0
    for name in (
        "config.yaml",
        "metrics.jsonl",
        "report.html",
        "errors.tsv",
        "model/model.safetensors",
        "model/tokenizer",
    ):
        assert (tuned / name).exists(), name
    lines = [json.loads(line) for line in (tuned / "metrics.jsonl").read_text().splitlines()]
    assert all(0 < line["train/fill"] <= 1 for line in lines if "train/loss" in line)


def test_the_same_command_says_that_it_is_finished(tuned, base, rows, caplog):
    before = (tuned / "metrics.jsonl").read_bytes()
    assert finetune(base, rows, tuned.parent) == 0
    assert (tuned / "metrics.jsonl").read_bytes() == before


def test_it_goes_on_where_it_stopped(base, rows, tuned, tmp_path):
    """A run of half the budget that is given the rest, against the undisturbed one: the learning rate alone differs."""
    constant = ["schedule=constant", "schedule.warmup=0", "eval.every=5", "budget.epochs=null"]
    assert finetune(base, rows, tmp_path / "whole", *constant, "budget.steps=10") == 0
    assert finetune(base, rows, tmp_path / "parts", *constant, "budget.steps=5") == 0
    assert finetune(base, rows, tmp_path / "parts", *constant, "budget.steps=10") == 0
    one, other = (
        read_tensors(tmp_path / name / "tuned" / "checkpoints" / "step-00000010" / "model.safetensors")[0]
        for name in ("whole", "parts")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_weights_of_the_best_evaluation_are_kept(base, rows, tmp_path, monkeypatch):
    values = iter([0.5, 0.9, 0.4, 0.9])
    monkeypatch.setattr(Judge, "__call__", lambda self, step: {"eval/accuracy": next(values)})
    words = ["budget.epochs=null", "budget.steps=12", "eval.every=3"]
    assert finetune(base, rows, tmp_path, *words) == 0
    run = tmp_path / "tuned"
    assert (summary(run)["best"]["value"], summary(run)["best"]["step"]) == (0.9, 6)
    model, best, last = (
        read_tensors(run / name / "model.safetensors")[0]
        for name in ("model", "checkpoints/step-00000006", "checkpoints/step-00000012")
    )
    assert all(torch.equal(model[name], best[name]) for name in model)
    assert any(not torch.equal(model[name], last[name]) for name in model)


def test_random_weights_start_elsewhere(base, rows, tmp_path, capsys):
    words = ["budget.epochs=null", "budget.steps=1", "optimizer.learning_rate=1e-9"]
    assert finetune(base, rows, tmp_path / "warm", *words) == 0
    assert finetune(base, rows, tmp_path / "cold", *words, "random_weights=true", "seed=2") == 0
    warm, cold, start = (
        read_tensors(folder / "model" / "model.safetensors")[0]
        for folder in (tmp_path / "warm" / "tuned", tmp_path / "cold" / "tuned", base)
    )
    name = "model.blocks.0.ffn.up.weight"
    torch.testing.assert_close(warm[name], start[name], atol=1e-6, rtol=0)
    assert (cold[name] - start[name]).abs().max() > 1e-2


def test_statistics_and_what_starts_random_are_said_first(base, rows, tmp_path, capsys):
    assert finetune(base, rows, tmp_path, "budget.epochs=null", "budget.steps=1") == 0
    said = capsys.readouterr().out
    assert "train: 40 rows" in said
    assert "labels: bad 20 (50.0%), good 20 (50.0%)" in said
    assert "starting random: objective.pooling.pooler.dense.weight" in said


def test_without_a_validation_split_whole_groups_are_held_out(base, rows, tmp_path, capsys):
    words = ["budget.epochs=null", "budget.steps=1", "task.validation_fraction=0.25"]
    assert finetune(base, rows / "train.tsv", tmp_path, *words) == 0
    assert "no validation split: 10 of 40 training rows are held out" in capsys.readouterr().out


def test_two_validation_splits_are_each_reported(base, rows, tmp_path):
    splits = "task.splits={train: train.tsv, validation: dev.tsv, validation_mismatched: train.tsv}"
    assert finetune(base, rows, tmp_path, splits, "budget.epochs=null", "budget.steps=1") == 0
    found = summary(tmp_path / "tuned")
    assert set(found["scores"]) == {"validation", "validation_mismatched"}
    assert "eval/validation_mismatched/accuracy" in found["metrics"]


def test_a_metric_that_the_rows_do_not_determine_is_said_and_ends_nothing(base, rows, tmp_path, capsys):
    one = tmp_path / "one"
    one.mkdir()
    (one / "train.tsv").write_text((rows / "train.tsv").read_text())
    (one / "dev.tsv").write_text("text\tlabel\n" + "".join(f"{text(2 * i)}\tbad\n" for i in range(5)))
    words = ["task.metrics=[roc_auc,accuracy]", "budget.epochs=null", "budget.steps=2"]
    assert finetune(base, one, tmp_path / "runs", *words) == 0
    said = capsys.readouterr().out
    assert "roc_auc: all 5 rows are 'bad'" in said
    assert "no evaluation gave roc_auc: the weights are those of the last step" in said


def test_a_fine_tuned_run_is_a_start_too(tuned, rows, tmp_path):
    assert finetune(tuned, rows, tmp_path, "budget.epochs=null", "budget.steps=1", "optimizer.learning_rate=1e-9") == 0
    one, other = (read_tensors(run / "model" / "model.safetensors")[0] for run in (tuned, tmp_path / "tuned"))
    torch.testing.assert_close(one["model.blocks.1.ffn.up.weight"], other["model.blocks.1.ffn.up.weight"])


def test_a_model_of_transformers_is_a_start_too(base, rows, tmp_path):
    assert main(["export", f"checkpoint={base}", f"output={tmp_path / 'hf'}"]) == 0
    words = ["budget.epochs=null", "budget.steps=1", "optimizer.learning_rate=1e-9"]
    assert finetune(tmp_path / "hf", rows, tmp_path, *words) == 0
    tensors = read_tensors(tmp_path / "tuned" / "model" / "model.safetensors")[0]
    start = read_tensors(base / "model" / "model.safetensors")[0]
    torch.testing.assert_close(
        tensors["model.blocks.0.ffn.up.weight"], start["model.blocks.0.ffn.up.weight"], atol=1e-6, rtol=0
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["checkpoint=null"], "checkpoint is missing: ptcli finetune checkpoint=RUN"),
        (["task.metrics=[accurcy]"], "'accurcy', which is no metric of this kind of task"),
        (["max_length=64"], "was trained on rows of at most 32 tokens"),
        (["trainer.devices=3"], "batch.size=8 rows cannot be divided among 3 devices"),
        (["trainer.devices=2", "trainer.strategy=fsdp", "task/adversarial=fgm"], "Use trainer.strategy=ddp, or task/"),
        (["task.path=/nowhere"], "/nowhere does not exist"),
        (["task/head=san"], "task/head=san pools the two texts of a row by itself"),
        (["task.head.dropout=1"], "task.head.dropout=1 must lie in [0, 1)"),
        (["task/adversarial=fgm", "task.adversarial.epsilon=0"], "task.adversarial.epsilon=0"),
        (["task.r_drop=-1"], "task.r_drop=-1 must be above 0"),
        (["task.mix_layers=9"], "task.mix_layers=9 must lie between 2 and 3"),
        (["task.freeze_layers=3"], "task.freeze_layers=3 must lie between 0 and 2"),
        (["task.reinitialise_layers=1", "task.freeze_layers=2"], "meet in a model of 2 layers"),
        (["task.label_smoothing=1"], "task.label_smoothing=1 must lie in [0, 1)"),
        (["task.class_weights=[1,2,3]"], "task.class_weights has 3 numbers, but the task has 2 labels"),
        (["mask=token"], "mask"),
    ],
)
def test_what_does_not_fit_is_refused(words, message, base, rows, tmp_path, capsys):
    assert finetune(base, rows, tmp_path, *words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "tuned").exists()  # it does not count as begun


def test_a_fine_tuned_model_is_written_for_onnxruntime(tuned, tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    assert main(["export", f"checkpoint={tuned}", "format=onnx", f"output={tmp_path}/onnx"]) == 0
    assert "to logits of a row's labels, in the order of labels.json" in capsys.readouterr().out
    assert json.loads((tmp_path / "onnx" / "labels.json").read_text()) == {"labels": ["bad", "good"]}
    saved = load_fine_tuned(str(tuned))
    texts = [text(2000 + number) for number in range(12)]
    rows = [torch.from_numpy(saved.tokenizer.encode([each])[0][0].astype("int64")) for each in texts]
    layout, session = saved.tokenizer.vocabulary, onnxruntime.InferenceSession(f"{tmp_path}/onnx/model.onnx")
    for number, ids in enumerate(rows):
        whole = torch.cat((torch.tensor([layout.cls_token_id]), ids, torch.tensor([layout.sep_token_id])))[None]
        inputs = {"input_ids": whole, "attention_mask": torch.ones_like(whole), "token_type_ids": whole * 0}
        (logits,) = session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()})
        assert int(logits[0].argmax()) == number % 2  # it answers as it was taught


def test_a_fine_tuned_model_does_not_fill(tuned, capsys):
    assert main(["fill", f"checkpoint={tuned}", "a [MASK]"]) == 2
    assert "is a fine-tuned model" in capsys.readouterr().err


@pytest.mark.parametrize("case", ["pair", "value", "tokens", "span", "choice", "rank", "classes"])
def test_every_kind_overfits_twenty_rows(case, base, tmp_path):
    path, task, words, ceiling = KINDS[case](tmp_path)
    steps = ["budget.epochs=null", "budget.steps=60", "eval.every=0", "batch.size=20", "optimizer.learning_rate=5e-3"]
    assert finetune(base, path, tmp_path / "runs", *words, *steps, task=task) == 0
    value = summary(tmp_path / "runs" / "tuned")["best"]["value"]
    assert value >= ceiling and math.isfinite(value)


def _write(folder, lines, name="train.jsonl"):
    text_of = "\n".join(json.dumps(line) for line in lines) + "\n"
    for split in ("train", "dev"):
        (folder / name.replace("train", split)).write_text(text_of)
    return folder


def _pair(folder):
    lines = [{"sentence1": text(i), "sentence2": text(i + 1 + i % 2), "label": f"l{i % 2}"} for i in range(20)]
    return _write(folder, lines), "pair_classification", [], 1.0


def _value(folder):
    lines = [{"text": text(i), "label": i % 2 + 0.1 * (i % 5)} for i in range(20)]
    return _write(folder, lines), "regression", [], 0.9


def _tokens(folder):
    sentences = [
        "\n".join(f"{word}\t{'B-X' if word in ('rain', 'roof') else 'O'}" for word in text(i).split())
        for i in range(20)
    ]
    for name in ("train", "dev"):
        (folder / f"{name}.conll").write_text("\n\n".join(sentences) + "\n")
    return folder, "token_classification", [], 1.0


def _span(folder):
    paragraphs = []
    for i in range(20):
        context = text(i)
        word = "rain" if "rain" in context else "roof"
        answer = {"text": word, "answer_start": context.index(word)}
        paragraphs.append({"context": context, "qas": [{"id": str(i), "question": "the cat", "answers": [answer]}]})
    for name in ("train", "dev"):
        (folder / f"{name}.json").write_text(json.dumps({"version": "1.1", "data": [{"paragraphs": paragraphs}]}))
    return folder, "extractive_qa", ["task.best_metric=exact_match", "task.metrics=[exact_match,f1]"], 1.0


def _choice(folder):
    lines = [
        {"text": "the cat", "choices": [text(2 * i), text(2 * i + 1)][:: 1 - 2 * (i % 2)], "label": i % 2}
        for i in range(20)
    ]
    return _write(folder, lines), "multiple_choice", [], 1.0


def _rank(folder):
    lines = [
        {"query": f"cat {i // 4}", "candidate": text(i), "label": int(i % 4 == 1), "group": str(i // 4)}
        for i in range(20)
    ]
    return _write(folder, lines), "ranking", [], 0.9


def _classes(folder):
    lines = [{"text": text(i), "labels": [["a"], ["b"]][i % 2]} for i in range(20)]
    return _write(folder, lines), "multi_label", ["task.label=labels"], 0.95


KINDS = {
    "pair": _pair,
    "value": _value,
    "tokens": _tokens,
    "span": _span,
    "choice": _choice,
    "rank": _rank,
    "classes": _classes,
}


def test_folds_answer_every_row_once_by_a_model_that_has_not_seen_it(base, rows, tmp_path, capsys):
    assert finetune(base, rows, tmp_path, "folds=3", "eval.every=0") == 0
    run = tmp_path / "tuned"
    with open(run / "out_of_fold.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [int(row["index"]) for row in found] == list(range(40))
    right = sum(row["label"] == ("bad", "good")[i % 2] for i, row in enumerate(found)) / 40
    scores = summary(run)["scores"]
    assert scores["out_of_fold"]["accuracy"][0] == pytest.approx(right)
    assert "validation" in scores
    held_out = [summary(run / f"fold-{n}")["scores"]["fold"]["accuracy"][0] for n in (1, 2, 3)]
    assert min(held_out) <= right <= max(held_out)
    output = f"output={tmp_path / 'out.jsonl'}"
    assert main(["predict", f"checkpoint={run}", f"input={rows / 'test.tsv'}", output]) == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 12
    together = (tmp_path / "out.jsonl").read_text()
    (run / "fold-old").mkdir()  # what is no fold of this run does not answer with it
    shutil.copytree(run / "fold-1", run / "fold-4")
    assert main(["predict", f"checkpoint={run}", f"input={rows / 'test.tsv'}", output]) == 0
    assert (tmp_path / "out.jsonl").read_text() == together
    (run / "summary.json").unlink()
    assert main(["predict", f"checkpoint={run}", f"input={rows / 'test.tsv'}", output]) == 2
    assert "not all of its folds are trained" in capsys.readouterr().err


def test_a_pretraining_with_a_task_is_fine_tuned_in_its_own_folder(cache, rows, tmp_path, capsys):
    task = ["task=classification", f"task.path={rows}", "finetune.epochs=1", "finetune.batch_size=8"]
    words = [*settings(tmp_path, "budget.steps=2", "eval.every=0"), *task]
    assert main(["pretrain", *words]) == 0
    run = run_folder(tmp_path)
    assert summary(run)["status"] == summary(run / "classification")["status"] == "finished"
    assert (run / "classification" / "model" / "labels.json").is_file()
    assert summary(run / "classification")["step"] == 5
    assert main(["pretrain", *words[: -len(task)]]) == 0
    assert "is finished" in capsys.readouterr().err  # the task does not make another pretraining of it


def test_what_a_task_puts_on_the_model_is_checked_before_pretraining(cache, rows, tmp_path, capsys):
    words = ["task=classification", f"task.path={rows}", "task.mix_layers=9"]
    assert main(["pretrain", *settings(tmp_path), *words]) == 2
    assert "task.mix_layers=9 must lie between 2 and" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_several_seeds_end_with_their_mean_and_spread_and_answer_together(base, rows, tmp_path, capsys):
    words = [f"checkpoint={base}", "task=classification", f"task.path={rows}", f"run.dir={tmp_path}", *SETTINGS]
    assert main(["finetune", "-m", *words, "budget.epochs=1", "seed=1,2", "run.name='s${seed}'"]) == 0
    values = [summary(tmp_path / f"s{seed}")["best"]["value"] for seed in (1, 2)]
    told = capsys.readouterr().err
    assert f"all jobs: mean {sum(values) / 2:.4f}, standard deviation" in told and "over 2 jobs" in told
    models, output = f"checkpoint=[{tmp_path}/s1,{tmp_path}/s2]", f"output={tmp_path / 'out.jsonl'}"
    assert main(["predict", models, f"input={rows / 'test.tsv'}", output]) == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 12


def test_the_threshold_of_no_answer_is_searched_and_kept(base, tmp_path, capsys):
    path, _, _, _ = _span(tmp_path)
    for name in ("train", "dev"):
        content = json.loads((path / f"{name}.json").read_text())
        for question in content["data"][0]["paragraphs"][::2]:
            question["qas"][0]["answers"] = []
        (path / f"{name}.json").write_text(json.dumps(content))
    words = ["task.no_answer=true", "budget.epochs=1"]
    assert finetune(base, path, tmp_path / "runs", *words, task="extractive_qa") == 0
    run = tmp_path / "runs" / "tuned"
    told = capsys.readouterr().out
    threshold = json.loads((run / "model" / "labels.json").read_text())["settled"]["threshold"]
    assert f"exact_match is best where no answer must lie more than {threshold:.4f} above the best span" in told
    assert load_fine_tuned(str(run)).task.settled == {"threshold": threshold}
    found = summary(run)["scores"]["validation"]["exact_match"][0]
    assert found >= max(summary(run)["best"]["value"], 0.5) - 1e-9  # answering none is right half of the time
    output = f"output={tmp_path / 'out.jsonl'}"
    assert main(["predict", f"checkpoint={run}", f"input={path / 'dev.json'}", output]) == 0
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [not answer["answer"] for answer in answers] == [a["no_answer_score"] > threshold for a in answers]


@pytest.mark.parametrize("command", ["prepare", "view", "check"])
def test_commands_about_pretraining_take_no_task(command, rows, tmp_path, capsys):
    assert main([command, *settings(tmp_path), "task=classification", f"task.path={rows}"]) == 2
    assert f"ptcli {command} is about pretraining" in capsys.readouterr().err


def test_a_task_that_does_not_fit_is_told_before_pretraining(cache, tmp_path, rows, capsys):
    words = ["task=classification", f"task.path={rows}", "finetune.epochs=0"]
    assert main(["pretrain", *settings(tmp_path), *words]) == 2
    assert "budget.epochs=0" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
