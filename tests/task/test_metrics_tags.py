"""Entities are read as conlleval reads them, and only whole ones count."""

import pytest

from ptcli.errors import DataError
from ptcli.task.metrics import token_classification
from ptcli.task.metrics.entities import entities, have_entities, repaired
from ptcli.task.metrics.score import measure
from tests.task.judged_rows import tagged


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("B-PER I-PER O B-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("B-PER B-PER I-PER", [("PER", 0, 0), ("PER", 1, 2)]),
        ("I-PER I-PER O I-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),  # IOB1, or IOB2 with a mistake
        ("B-PER I-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),  # a change of type begins another
        ("B-PER I-PER", [("PER", 0, 1)]),
        ("S-PER B-LOC I-LOC E-LOC S-LOC", [("PER", 0, 0), ("LOC", 1, 3), ("LOC", 4, 4)]),
        ("U-PER B-LOC L-LOC", [("PER", 0, 0), ("LOC", 1, 2)]),
        ("E-PER I-PER", [("PER", 0, 0), ("PER", 1, 1)]),
        ("B-creative-work I-creative-work", [("creative-work", 0, 1)]),
        ("B I O B", [("", 0, 1), ("", 3, 3)]),
        ("O O", []),
        ("", []),
    ],
)
def test_entities(tags, found):
    assert entities(tags.split()) == found


@pytest.mark.parametrize(
    ("tags", "mended"),
    [
        ("O I-PER I-PER", "O B-PER I-PER"),
        ("B-PER I-LOC I-LOC", "B-PER B-LOC I-LOC"),
        ("I-PER", "B-PER"),
        ("B-PER I-PER B-PER", "B-PER I-PER B-PER"),
        ("", ""),
    ],
)
def test_repair(tags, mended):
    assert repaired(tags.split()) == mended.split()


def test_repair_changes_no_entity():
    tags = ["I-A", "O", "B-A", "I-B", "I-B", "B-B", "I-A"]
    assert entities(repaired(tags)) == entities(tags)


def test_parts_of_speech_are_no_entities():
    assert have_entities(["O", "B-PER", "I-PER"])
    assert not have_entities(["NOUN", "VERB", "ADJ"])
    assert not have_entities(["O"])
    assert not have_entities(["B-NOUN", "X"])


def scores_of(truth, predicted):
    predictions = [{"tags": sentence.split()} for sentence in predicted]
    return measure(token_classification.outcomes_of(predictions, tagged(*truth)), token_classification.METRICS)


def test_by_hand():
    """Two of the three true and of the four predicted entities agree in type and both ends."""
    scores = scores_of(
        ["B-PER I-PER O B-LOC", "O B-ORG I-ORG"],
        ["B-PER I-PER O B-LOC", "B-LOC B-ORG O"],
    )
    assert scores["precision"].value == pytest.approx(2 / 4)
    assert scores["recall"].value == pytest.approx(2 / 3)
    assert scores["f1"].value == pytest.approx(4 / 7)
    assert scores["f1_macro"].value == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert scores["accuracy"].value == pytest.approx(5 / 7)


def test_parts_of_speech_have_accuracy_and_no_f1():
    scores = scores_of(["NOUN VERB", "ADJ"], ["NOUN NOUN", "ADJ"])
    assert scores["accuracy"].value == pytest.approx(2 / 3)
    assert scores["f1"].value is None


def test_nothing_predicted_is_said():
    scores = scores_of(["B-PER O"], ["O O"])
    assert scores["f1"].value == 0
    assert scores["f1"].remark == "no entity is predicted"
    assert scores["precision"].value is None
    assert scores_of(["O"], ["O"])["f1"].remark == "there is no entity, and none is predicted"


def test_a_tag_too_few_is_refused():
    with pytest.raises(DataError, match="tags:1: 1 tags are predicted for 2 words"):
        scores_of(["O O"], ["O"])
