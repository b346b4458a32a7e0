"""`ptcli predict`, `ptcli evaluate` and `ptcli export` of a fine-tuned run."""

import csv
import json

import numpy as np
import pytest
import torch

from ptcli.cli import main
from ptcli.errors import ConfigError
from ptcli.finetuning.answer_file import AnswerFile, format_of
from tests.command.reviews import finetune, pretrained, text


@pytest.fixture(scope="module")
def other(base, rows, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    assert finetune(base, rows, runs, "seed=2", "budget.epochs=4") == 0
    return runs / "tuned"


def predict(run, rows, output, *words):
    code = main(["predict", f"checkpoint={run}", f"input={rows}", f"output={output}", "trainer.precision=fp32", *words])
    assert code == 0
    return output


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def test_each_row_has_its_answer_in_order(tuned, rows, tmp_path):
    found = table(predict(tuned, rows / "test.tsv", tmp_path / "out.csv", "chunk=5", "batch.size=3"))
    assert [int(row["index"]) for row in found] == list(range(12))
    assert [row["label"] for row in found] == ["bad", "good"] * 6
    for row in found:
        shares = float(row["probabilities_bad"]), float(row["probabilities_good"])
        assert sum(shares) == pytest.approx(1)
        assert max(shares) == pytest.approx(float(row["probability"]))


def test_neither_chunks_nor_batches_nor_the_format_change_an_answer(tuned, rows, tmp_path):
    one = table(predict(tuned, rows / "test.tsv", tmp_path / "a.tsv", "chunk=1", "batch.size=1"))
    lines = predict(tuned, rows / "test.tsv", tmp_path / "b.jsonl").read_text().splitlines()
    two = [json.loads(line) for line in lines]
    np.testing.assert_allclose(
        [float(row["probability"]) for row in one], [row["probability"] for row in two], atol=1e-5
    )


def test_another_format_is_read_by_its_ending(tuned, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"text": text(i)}) + "\n" for i in range(4)))
    assert [row["label"] for row in table(predict(tuned, file, tmp_path / "out.csv"))] == ["bad", "good"] * 2


def test_labels_are_judged_and_unknown_ones_told(tuned, rows, tmp_path, capsys):
    file = tmp_path / "rows.tsv"
    file.write_text((rows / "dev.tsv").read_text() + f"{text(0)}\tso-so\n")
    predict(tuned, file, tmp_path / "out.csv")
    said = capsys.readouterr().err
    assert "13 rows answered" in said
    assert "1 rows have a label that the model does not know" in said
    assert "accuracy 1.0000" in said


def test_a_submission_has_the_benchmarks_form(tuned, rows, tmp_path):
    lines = predict(tuned, rows / "test.tsv", tmp_path / "sub.tsv", "format=submission").read_text().splitlines()
    assert lines[:3] == ["index\tprediction", "0\tbad", "1\tgood"]
    assert len(lines) == 13


def test_a_competition_takes_a_probability_a_line(base, rows, tmp_path):
    words = ["task.metrics=[roc_auc]", "budget.epochs=null", "budget.steps=1"]
    assert finetune(base, rows, tmp_path, *words) == 0
    out = predict(tmp_path / "tuned", rows / "test.tsv", tmp_path / "sub.txt", "format=submission")
    values = [float(line) for line in out.read_text().splitlines()]
    assert len(values) == 12
    assert all(0 < value < 1 for value in values)


def test_several_models_answer_with_the_mean_of_their_logits(tuned, other, rows, tmp_path):
    def margins(run):
        found = table(predict(run, rows / "test.tsv", tmp_path / "out.csv"))
        return np.array([np.log(float(r["probabilities_good"]) / float(r["probabilities_bad"])) for r in found])

    both = margins(f"[{tuned},{other}]")
    np.testing.assert_allclose(both, (margins(tuned) + margins(other)) / 2, atol=1e-4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["input=/nowhere.tsv"], "there is no such file"),
        (["output=out.xlsx"], "its name does not say which format is wanted"),
        (["input=null"], "input is missing"),
        (["format=xml"], "format=xml: one of"),
    ],
)
def test_what_does_not_fit_is_refused(words, message, tuned, rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["predict", f"checkpoint={tuned}", f"input={rows / 'test.tsv'}", "output=out.csv", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_pretrained_run_does_not_answer(base, rows, capsys):
    assert main(["predict", f"checkpoint={base}", f"input={rows / 'test.tsv'}"]) == 2
    assert "was not fine-tuned" in capsys.readouterr().err


def test_evaluate_writes_errors_and_a_page(other, tmp_path, capsys):
    words = [f"errors={tmp_path / 'errors.jsonl'}", f"page={tmp_path / 'page.html'}"]
    assert main(["evaluate", f"checkpoint={other}", *words]) == 0
    said = capsys.readouterr().out
    assert "accuracy" in said and "confusion" in said and "reliability" in said
    errors = [json.loads(line) for line in (tmp_path / "errors.jsonl").read_text().splitlines()]
    costs = [error["cost"] for error in errors]
    assert costs == sorted(costs, reverse=True)
    assert all(error["true"] != error["label"] for error in errors)
    assert "reliability" in (tmp_path / "page.html").read_text()


def test_evaluate_takes_other_rows(tuned, rows, tmp_path, capsys):
    file = tmp_path / "few.tsv"
    file.write_text(f"text\tlabel\n{text(0)}\tbad\n{text(2)}\tgood\n")
    assert main(["evaluate", f"checkpoint={tuned}", f"task.path={file}"]) == 0
    assert "0.5000" in capsys.readouterr().out
    assert main(["evaluate", f"checkpoint={tuned}", "task.split=train"]) == 0
    assert main(["evaluate", f"checkpoint={tuned}", "task.split=nothing"]) == 2
    assert main(["evaluate", f"checkpoint={tuned}", f"task.path={rows / 'test.tsv'}"]) == 2
    assert "rows have no label" in capsys.readouterr().err


def test_keys_of_the_other_kind_of_model_are_refused(tuned, base, capsys):
    assert main(["evaluate", f"checkpoint={tuned}", "corpus.path=x.txt"]) == 2
    assert "this one was fine-tuned" in capsys.readouterr().err
    assert main(["evaluate", f"checkpoint={base}", "errors=x.tsv"]) == 2
    assert "this one was not fine-tuned" in capsys.readouterr().err


def test_transformers_answers_the_same(tuned, rows, tmp_path, capsys):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    assert main(["export", f"checkpoint={tuned}", f"output={tmp_path / 'hf'}"]) == 0
    assert "BertForSequenceClassification" in capsys.readouterr().out
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "hf").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    texts = (rows / "test.tsv").read_text().splitlines()[1:]
    with torch.inference_mode():
        shares = model(**tokenizer(texts, padding=True, return_tensors="pt")).logits.softmax(-1)
    found = table(predict(tuned, rows / "test.tsv", tmp_path / "out.csv"))
    np.testing.assert_allclose(shares[:, 1], [float(row["probabilities_good"]) for row in found], atol=1e-5)
    assert [model.config.id2label[int(best)] for best in shares.argmax(-1)] == [row["label"] for row in found]


def test_an_export_that_no_class_holds_is_refused(base, rows, tmp_path, capsys):
    assert finetune(base, rows, tmp_path, "task/pooling=mean", "budget.epochs=null", "budget.steps=1") == 0
    assert main(["export", f"checkpoint={tmp_path / 'tuned'}", f"output={tmp_path / 'hf'}"]) == 2
    assert "one dense layer and tanh behind the classification token" in capsys.readouterr().err
    assert not (tmp_path / "hf").exists()


def test_columns_and_formats_of_answers(tmp_path):
    answers = [{"label": "a", "probabilities": {"a": 0.75, "b": 0.25}, "tags": ["x", "é"], "none": None}]
    with AnswerFile.open(str(tmp_path / "a.csv"), "csv") as file:
        file.write(answers)
        file.write(answers)
    assert (tmp_path / "a.csv").read_text().splitlines() == [
        "label,probabilities_a,probabilities_b,tags,none",
        *['a,0.75,0.25,"[""x"", ""é""]",'] * 2,
    ]
    with pytest.raises(AttributeError), AnswerFile.open(str(tmp_path / "b.csv"), "csv") as file:
        file.write([*answers, None])
    assert not (tmp_path / "b.csv").exists()
    assert format_of("x.TSV", "auto") == "tsv"
    with pytest.raises(ConfigError, match="does not say which format"):
        format_of("x.json", "auto")


FAMILIES = {
    "roberta": (["model=roberta", "model.position.learned.max_positions=40"], ["task/pooling=cls", "task/head=tanh"]),
    "albert": (["model=albert", "model.embedding_size=16"], []),
    "ernie": (["model=ernie"], []),
    "deberta": (["model=deberta"], []),
    "deberta_v3": (["model=deberta_v3"], []),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_transformers_says_the_same_of_whole_texts_in_each_family(name, cache, rows, tmp_path, capsys):
    model, head = FAMILIES[name]
    base = pretrained(tmp_path, *model)
    assert finetune(base, rows, tmp_path / "runs", *head, "budget.epochs=null", "budget.steps=2") == 0
    assert main(["export", f"checkpoint={tmp_path / 'runs' / 'tuned'}", f"output={tmp_path / 'hf'}"]) == 0
    said = capsys.readouterr().out
    assert "ForSequenceClassification of transformers" in said
    assert "loaded with transformers: logits differ by" in said


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bert", "electra", "roberta", "deberta"])
@pytest.mark.parametrize("task", ["token_classification", "extractive_qa"])
def test_transformers_says_the_same_of_tokens(model, task, cache, tmp_path, capsys):
    from tests.command.test_finetune import KINDS

    base = pretrained(tmp_path, f"model={model}")
    path, kind, words, _ = KINDS[{"token_classification": "tokens", "extractive_qa": "span"}[task]](tmp_path)
    assert finetune(base, path, tmp_path / "runs", *words, "budget.epochs=null", "budget.steps=2", task=kind) == 0
    assert main(["export", f"checkpoint={tmp_path / 'runs' / 'tuned'}", f"output={tmp_path / 'hf'}"]) == 0
    suffix = {"token_classification": "ForTokenClassification", "extractive_qa": "ForQuestionAnswering"}[task]
    assert f"{suffix} of transformers" in capsys.readouterr().out


@pytest.mark.slow
def test_transformers_chooses_the_same(base, tmp_path, capsys):
    from tests.command.test_finetune import KINDS

    path, kind, words, _ = KINDS["choice"](tmp_path)
    assert finetune(base, path, tmp_path / "runs", *words, "budget.epochs=null", "budget.steps=2", task=kind) == 0
    assert main(["export", f"checkpoint={tmp_path / 'runs' / 'tuned'}", f"output={tmp_path / 'hf'}"]) == 0
    assert "BertForMultipleChoice of transformers" in capsys.readouterr().out


def test_answers_are_not_written_over_a_folder(tmp_path):
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(ConfigError, match="is a folder"), AnswerFile.open(str(tmp_path / "out.csv"), "csv"):
        pass


def test_a_file_laid_out_otherwise_is_refused_without_advice_that_predict_does_not_take(tuned, tmp_path, capsys):
    for name, content, told in (
        ("bytes.tsv", b"text\tlabel\nbad \xff bytes\tgood\n", "lay out"),
        ("short.tsv", b"text\tlabel\ngood\tgood\nshort\n", "lay out"),
        ("empty.tsv", b"", "input="),
    ):
        (tmp_path / name).write_bytes(content)
        words = [f"checkpoint={tuned}", f"input={tmp_path / name}", f"output={tmp_path / 'answers.csv'}"]
        assert main(["predict", *words]) in (1, 2)
        assert told in capsys.readouterr().err
        assert not (tmp_path / "answers.csv").exists()
