"""Outputs become predictions: one a row, in order, with the words and characters that they stand for."""

import numpy as np
import pytest

from ptcli.task.classification import Classification
from ptcli.task.encoded import Encoded
from ptcli.task.extractive_qa import ExtractiveQA
from ptcli.task.multi_label import MultiLabel
from ptcli.task.multiple_choice import MultipleChoice
from ptcli.task.ranking import Ranking
from ptcli.task.regression import Regression
from ptcli.task.rows import Row
from ptcli.task.spans import best_span
from ptcli.task.token_classification import TokenClassification
from tests.task.judged_rows import rows_of


def encoded(lengths, rows, **arrays):
    """Examples of these lengths whose tokens do not matter."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    number = int(offsets[-1])
    tokens, segments = np.zeros(number, np.int32), np.zeros(number, np.uint8)
    return Encoded(tokens=tokens, offsets=offsets, segments=segments, row_of_example=np.array(rows), **arrays)


def told(task, rows, found=None, *, labels=(), **outputs):
    """What a task makes of outputs, given by name, for rows or so many of them."""
    rows = rows_of(*[None] * rows) if isinstance(rows, int) else rows
    found = found or encoded([1] * len(rows), range(len(rows)))
    return task.decode(
        {name: np.array(values, np.float32) for name, values in outputs.items()}, found, rows, labels=labels
    )


def test_a_class():
    logits = [[0.0, np.log(3.0)], [1000.0, -1000.0]]
    first, second = told(Classification(), 2, logits=logits, labels=["no", "yes"])
    assert first["label"] == "yes"
    assert first["probability"] == pytest.approx(0.75)
    assert first["probabilities"] == pytest.approx({"no": 0.25, "yes": 0.75})
    assert second == {"label": "no", "probability": 1.0, "probabilities": {"no": 1.0, "yes": 0.0}}
    assert told(Classification(), 0, logits=np.zeros((0, 2)), labels=["no", "yes"]) == []


def test_a_number():
    assert told(Regression(), 2, values=[5.5, -1.0]) == [{"value": 5.5}, {"value": -1.0}]


def test_several_classes():
    logits = [[0.0, -800.0, 800.0], [-1.0, -1.0, -1.0]]
    first, second = told(MultiLabel(), 2, logits=logits, labels=["a", "b", "c"])
    assert first["labels"] == ["a", "c"]
    assert first["probabilities"] == pytest.approx({"a": 0.5, "b": 0.0, "c": 1.0})
    assert second["labels"] == []
    (lower,) = told(MultiLabel(threshold=0.2), 1, logits=logits[1:], labels=["a", "b", "c"])
    assert lower["labels"] == ["a", "b", "c"]


TAGS = ("O", "B-PER", "I-PER")


def tagged(numbers, **settings):
    """Two rows: one in two examples whose third word has no token, and one in one example."""
    rows = [
        Row(index=0, texts=(), words=("Ann", "Lee", "\u200b", "ran")),
        Row(index=1, texts=(), words=("Bo",)),
    ]
    found = encoded(
        [4, 3, 3],
        [0, 0, 1],
        token_positions=np.array([1, 2, 5, 8]),
        token_words=np.array([0, 1, 3, 0]),
    )
    return told(TokenClassification(**settings), rows, found, token_logits=np.eye(3)[numbers], labels=TAGS)


def test_tags_by_word():
    first, second = tagged([1, 2, 0, 1])
    assert first["tags"] == ["B-PER", "I-PER", "O", "O"]
    assert first["unread"] == 1
    assert first["probabilities"][2] == 0
    assert first["probabilities"][0] == pytest.approx(np.e / (np.e + 2))
    assert first["entities"] == [{"type": "PER", "first_word": 0, "last_word": 1, "text": "Ann Lee"}]
    assert second["tags"] == ["B-PER"]
    assert second["unread"] == 0


def test_tags_are_mended_only_where_asked():
    assert tagged([0, 2, 0, 2])[0]["tags"] == ["O", "I-PER", "O", "O"]
    assert tagged([0, 2, 0, 2], repair=True)[0]["tags"] == ["O", "B-PER", "O", "O"]
    assert tagged([1, 2, 0, 0], word_separator="")[0]["entities"][0]["text"] == "AnnLee"


def test_words_without_a_token_have_no_tag_where_none_means_outside():
    rows = [Row(index=0, texts=(), words=("a", "\u200b"))]
    found = encoded([3], [0], token_positions=np.array([1]), token_words=np.array([0]))
    (prediction,) = told(TokenClassification(), rows, found, token_logits=np.eye(2)[[1]], labels=("DET", "NOUN"))
    assert prediction["tags"] == ["NOUN", ""]
    assert "entities" not in prediction


def slowest_span(start, end, inside, longest):
    """The best span by trying them all; the shortest of equals, then the first."""
    number = len(start)
    spans = [
        (start[i] + end[j], i, j)
        for length in range(1, longest + 1)
        for i in range(number - length + 1)
        for j in [i + length - 1]
        if inside[i : j + 1].all()
    ]
    return max(spans, key=lambda span: span[0], default=(-np.inf, -1, -1))


def test_the_best_span_is_found():
    draw = np.random.default_rng(7)
    for case in range(200):
        number = int(draw.integers(1, 14))
        start, end = draw.integers(-3, 4, (2, number)).astype(float)
        inside = draw.random(number) < 0.8
        longest = int(draw.integers(1, 9))
        assert best_span(start, end, inside, longest=longest) == slowest_span(start, end, inside, longest), case


CONTEXT = "Rome fell. Paris stood."


def windows(starts, ends, **settings):
    """One row in two windows: [CLS] Rome fell . | [CLS] fell . Paris stood; a second row whose question fills it."""
    rows = [Row(index=0, texts=("What?", CONTEXT)), Row(index=1, texts=("Long?", "Unread."))]
    found = encoded(
        [4, 5, 2],
        [0, 0, 1],
        starts=np.array([-1, 0, 5, 9, -1, 5, 9, 11, 17, -1, 0]),
        ends=np.array([-1, 4, 9, 10, -1, 9, 10, 16, 22, -1, 5]),
        context=np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], bool),
    )
    return told(ExtractiveQA(**settings), rows, found, start_logits=starts, end_logits=ends)


def test_an_answer_is_cut_from_the_context():
    first, second = windows([9, 1, 0, 0, 9, 0, 0, 4, 0, 9, 99], [9, 1, 0, 0, 9, 0, 0, 0, 3, 9, 99])
    assert first == {"answer": "Paris stood", "start": 11, "end": 22, "score": 7.0}
    assert CONTEXT[first["start"] : first["end"]] == first["answer"]
    assert second == {"answer": "", "start": -1, "end": -1, "score": None}


def test_an_answer_does_not_end_before_it_starts_and_is_no_longer_than_asked():
    starts, ends = [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], [0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert windows(starts, ends)[0]["answer"] == "."
    starts, ends = [0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
    assert windows(starts, ends, longest_answer=3)[0]["answer"] == "Rome fell."
    assert windows(starts, ends, longest_answer=2)[0]["score"] == 5


def test_no_answer_is_the_least_of_the_windows_and_is_held_against_the_threshold():
    starts, ends = [9, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0], [9, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    given, none = windows(starts, ends, no_answer=True, threshold=1.0), windows(starts, ends, no_answer=True)
    assert given[0]["no_answer_score"] == pytest.approx(4 - 3)  # the second window's 4, not the first one's 18
    assert given[0]["answer"] == "Paris"
    assert (none[0]["answer"], none[0]["start"], none[0]["end"]) == ("", -1, -1)
    assert none[0]["score"] == 3
    assert none[1]["answer"] == ""


def test_scores_of_minus_infinity_outside_the_context_do_no_harm():
    hidden = -np.inf
    starts = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, hidden]
    assert windows(starts, starts, no_answer=True)[0]["answer"] == "Rome"


def test_choices_of_different_number():
    rows = [
        Row(index=0, texts=("t",), choices=("x", "y")),
        Row(index=1, texts=("t",), choices=("a", "b", "c")),
    ]
    found = encoded([1] * 5, [0, 0, 1, 1, 1])
    first, second = told(MultipleChoice(), rows, found, scores=[0.0, np.log(4), 1, 2, 0])
    assert (first["choice"], first["text"]) == (1, "y")
    assert first["probabilities"] == pytest.approx([0.2, 0.8])
    assert (second["choice"], second["text"]) == (1, "b")
    assert sum(second["probabilities"]) == pytest.approx(1)


def test_ranks_within_a_query():
    rows = rows_of(*[None] * 5, groups=["a", "b", "a", "a", "b"])
    predictions = told(Ranking(), rows, scores=[0.5, 1, 0.5, 0.9, 2])
    assert [p["rank"] for p in predictions] == [2, 2, 3, 1, 1]
    assert predictions[3]["score"] == pytest.approx(0.9)
