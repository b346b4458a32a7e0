from ptcli.task.extractive_qa import ExtractiveQA
from ptcli.task.pair_classification import PairClassification
from ptcli.task.regression import Regression
from ptcli.task.rows import Row
from ptcli.task.statistics import describe, overlaps
from tests.task.words import letters


def rows_of(*rows, split="train"):
    return [
        Row(index=i, texts=tuple(texts), label=label, source=f"{split}:{i + 1}")
        for i, (*texts, label) in enumerate(rows)
    ]


TRAINING = rows_of(("the cat", "dog", "yes"), ("mat", "on", "no"), ("who", "sat", "no"))


def test_what_is_in_both_splits_is_counted_and_named():
    other = rows_of(
        ("the cat", "dog", "no"), ("on", "mat", "no"), ("who", "sat", "no"), ("a", "b", "maybe"), split="dev"
    )
    same, swapped, unseen = overlaps(PairClassification(), TRAINING, other)
    assert same == "2 of 4 rows have texts that are trained on, too, 1 of them with another label: dev:1, dev:3"
    assert swapped == "1 rows are swapped pairs of rows that are trained on: dev:2"
    assert unseen == "the label 'maybe' is never trained on, but 1 rows have it: dev:4"
    assert overlaps(PairClassification(), TRAINING, rows_of(("a", "b", "yes"))) == []


def test_lengths_cuts_and_labels_are_told():
    task = PairClassification()
    encoded = task.encode(TRAINING, tokenizer=letters(), max_length=5, labels=("no", "yes"))
    lines = describe(task, {"train": TRAINING}, {"train": encoded}, max_length=5)
    assert lines == [
        "train: 3 rows; tokens 5 (5 %), 5 (median), 5 (95 %), 5 (most) of max_length=5: 1 rows are cut (33.3%)",
        "train: labels: no 2 (66.7%), yes 1 (33.3%)",
    ]


def test_numbers_and_questions_are_told_too():
    task = Regression()
    rows = rows_of(("a", 1.0), ("b", 4.0), ("c", None))
    encoded = task.encode(rows, tokenizer=letters(), max_length=8)
    told = describe(task, {"train": rows}, {"train": encoded}, max_length=8)
    assert told[1:] == ["train: 1 rows have no label", "train: labels 1 to 4, mean 2.5"]
    qa = ExtractiveQA(no_answer=True)
    asked = rows_of(("who", "the cat", ()))
    encoded = qa.encode(asked, tokenizer=letters(), max_length=8)
    assert "1 questions have no answer (100.0%)" in describe(qa, {"train": asked}, {"train": encoded}, max_length=8)[1]
