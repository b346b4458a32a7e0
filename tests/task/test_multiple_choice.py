import json

import numpy as np
import pytest

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import DataError
from ptcli.task.multiple_choice import MultipleChoice
from tests.task.words import examples, letters


def read(tmp_path, *rows: dict, **settings):
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    task = MultipleChoice(path=str(file), **{"text": "text", **settings})
    task.check()
    return task, task.read("train", labelled=False)


def test_each_choice_is_an_example_judged_with_the_others(tmp_path):
    one = {"text": "the cat", "ask": "who", "choices": ["sat", "on", "mat"], "label": 2}
    other = {"text": "dog", "ask": "who", "choices": ["sat", "on"]}
    task, rows = read(tmp_path, one, other, question="ask")
    encoded = task.encode(rows, tokenizer=letters(), max_length=16)
    assert examples(encoded)[:3] == [
        "[CLS] the cat [SEP] who sat [SEP]",
        "[CLS] the cat [SEP] who on [SEP]",
        "[CLS] the cat [SEP] who mat [SEP]",
    ]
    assert encoded.example_labels is not None and encoded.question_numbers is not None
    assert encoded.example_labels.tolist() == [0, 0, 1, IGNORE_INDEX, IGNORE_INDEX]
    assert encoded.question_numbers.tolist() == [0, 0, 0, 1, 1]
    predictions = task.decode({"scores": np.array([0.0, 0, 1, 3, 2])}, encoded, rows)
    assert [prediction["text"] for prediction in predictions] == ["mat", "sat"]
    assert task.score(predictions, rows)["accuracy"].value == 1


@pytest.mark.parametrize(
    ("label", "right", "settings"),
    [(1, 1, {}), ("1", 1, {}), ("B", 1, {}), ("on", 1, {}), (1, 0, {"first_label": 1}), (1.0, 1, {})],
)
def test_labels_are_numbers_letters_or_the_text(tmp_path, label, right, settings):
    _, rows = read(tmp_path, {"text": "a", "choices": ["sat", "on"], "label": label}, **settings)
    assert rows[0].label == right


def test_choices_in_columns_of_their_own(tmp_path):
    _, rows = read(tmp_path, {"text": "a", "c1": "sat", "c2": "on", "label": 0}, choices=["c1", "c2"])
    assert rows[0].choices == ("sat", "on")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"choices": ["sat", "on"], "label": 2}, "has '2' as its label, which is none of its 2 choices"),
        ({"choices": ["sat"], "label": 0}, "has 1 choices"),
        ({"choices": "sat", "label": 0}, "has no list of choices"),
        ({"label": 0}, r"no column choices.*task\.choices="),
    ],
)
def test_rows_that_are_no_questions_are_named(tmp_path, row, message):
    with pytest.raises(DataError, match=rf"train\.jsonl:1.*{message}"):
        read(tmp_path, {"text": "a", **row})


def test_long_texts_are_cut_before_choices_and_rows_counted_once(tmp_path):
    task, rows = read(tmp_path, {"text": "the cat sat on the mat", "choices": ["dog", "who"], "label": 0})
    encoded = task.encode(rows, tokenizer=letters(), max_length=7)
    assert examples(encoded)[0] == "[CLS] the cat sat [SEP] dog [SEP]"
    assert encoded.num_truncated == 1
