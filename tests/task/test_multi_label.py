import json

import numpy as np
import pytest

from ptcli.errors import ConfigError, DataError
from ptcli.task.multi_label import MultiLabel
from tests.task.words import letters


def read(tmp_path, text: str, name: str = "train.tsv", **settings):
    (tmp_path / name).write_text(text, encoding="utf-8")
    task = MultiLabel(path=str(tmp_path / name), **settings)
    task.check()
    return task, task.read("train")


def test_labels_are_told_apart_by_a_sign_and_none_is_a_label_too(tmp_path):
    task, rows = read(tmp_path, "text\tlabel\na\tred,blue,red\nb\t[]\nc\tgreen\n")
    assert [row.label for row in rows] == [("red", "blue"), (), ("green",)]
    labels = task.collect_labels({"train": rows})
    assert labels == ("blue", "green", "red")
    encoded = task.encode(rows, tokenizer=letters(), max_length=8, labels=labels)
    assert encoded.example_labels is not None and encoded.example_labels.dtype == np.float32
    assert encoded.example_labels.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_lists_need_no_sign_and_unlabelled_rows_are_nan(tmp_path):
    lines = "".join(json.dumps(row) + "\n" for row in ({"text": "a", "label": ["x,y"]}, {"text": "b", "label": []}))
    task, rows = read(tmp_path, lines, name="train.jsonl")
    assert [row.label for row in rows] == [("x,y",), ()]
    (tmp_path / "rows.tsv").write_text("text\na\n", encoding="utf-8")
    unlabelled = list(task.read_file(tmp_path / "rows.tsv"))
    table = task.encode(unlabelled, tokenizer=letters(), max_length=8, labels=("x,y", "z")).example_labels
    assert table is not None and np.isnan(table).all() and table.shape == (1, 2)


def test_outputs_become_predictions_from_a_threshold_on(tmp_path):
    task, rows = read(tmp_path, "text\tlabel\na\tred\nb\t[]\n", threshold=0.9)
    encoded = task.encode(rows, tokenizer=letters(), max_length=8, labels=("red",))
    predictions = task.decode({"logits": np.array([[4.0], [1.0]])}, encoded, rows, labels=("red",))
    assert [prediction["labels"] for prediction in predictions] == [["red"], []]
    assert task.score(predictions, rows, labels=("red",))["f1_micro"].value == 1


def test_what_is_out_of_range_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"task\.threshold=1\.0"):
        MultiLabel(path=str(tmp_path), threshold=1.0).check()
    with pytest.raises(ConfigError, match=r"task\.label_separator is empty"):
        MultiLabel(path=str(tmp_path), label_separator="").check()
    with pytest.raises(DataError, match=r"train\.jsonl:1 has no labels but"):
        read(tmp_path, json.dumps({"text": "a", "label": [{"x": 1}]}), name="train.jsonl")
