"""Outputs become predictions: one a row, in order, with the words and characters that they stand for."""

import numpy as np
import pytest

from ptcli.task.decoding import (
    classification,
    extractive_qa,
    multi_label,
    multiple_choice,
    ranking,
    regression,
    token_classification,
)
from ptcli.task.decoding.extractive_qa import best_span
from ptcli.task.encoded import Encoded
from ptcli.task.rows import Row
from tests.task.judged_rows import rows_of


def encoded(lengths, rows, **arrays):
    """Examples of these lengths whose tokens do not matter."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    number = int(offsets[-1])
    tokens, segments = np.zeros(number, np.int32), np.zeros(number, np.uint8)
    return Encoded(tokens=tokens, offsets=offsets, segments=segments, row_of_example=np.array(rows), **arrays)


def test_a_class():
    first, second = classification.decode(np.array([[0.0, np.log(3.0)], [1000.0, -1000.0]]), labels=["no", "yes"])
    assert first["label"] == "yes"
    assert first["probability"] == pytest.approx(0.75)
    assert first["probabilities"] == pytest.approx({"no": 0.25, "yes": 0.75})
    assert second == {"label": "no", "probability": 1.0, "probabilities": {"no": 1.0, "yes": 0.0}}
    assert classification.decode(np.zeros((0, 2)), labels=["no", "yes"]) == []


def test_a_number():
    assert regression.decode(np.array([[5.5], [-1.0]], np.float32)) == [{"value": 5.5}, {"value": -1.0}]


def test_several_classes():
    logits = np.array([[0.0, -800.0, 800.0], [-1.0, -1.0, -1.0]])
    first, second = multi_label.decode(logits, labels=["a", "b", "c"])
    assert first["labels"] == ["a", "c"]
    assert first["probabilities"] == pytest.approx({"a": 0.5, "b": 0.0, "c": 1.0})
    assert second["labels"] == []
    assert multi_label.decode(logits[1:], labels=["a", "b", "c"], threshold=0.2)[0]["labels"] == ["a", "b", "c"]


TAGS = ("O", "B-PER", "I-PER")


def tagged(numbers, **options):
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
    return token_classification.decode(np.eye(3)[numbers], found, rows, labels=TAGS, **options)


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
    assert tagged([1, 2, 0, 0], separator="")[0]["entities"][0]["text"] == "AnnLee"


def test_words_without_a_token_have_no_tag_where_none_means_outside():
    rows = [Row(index=0, texts=(), words=("a", "\u200b"))]
    found = encoded([3], [0], token_positions=np.array([1]), token_words=np.array([0]))
    (prediction,) = token_classification.decode(np.eye(2)[[1]], found, rows, labels=("DET", "NOUN"))
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


def windows(starts, ends, **options):
    """One row in two windows: [CLS] Rome fell . | [CLS] fell . Paris stood; a second row whose question fills it."""
    rows = [Row(index=0, texts=("What?", CONTEXT)), Row(index=1, texts=("Long?", "Unread."))]
    found = encoded(
        [4, 5, 2],
        [0, 0, 1],
        starts=np.array([-1, 0, 5, 9, -1, 5, 9, 11, 17, -1, 0]),
        ends=np.array([-1, 4, 9, 10, -1, 9, 10, 16, 22, -1, 5]),
        context=np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], bool),
    )
    return extractive_qa.decode(np.array(starts, float), np.array(ends, float), found, rows, **options)


def test_an_answer_is_cut_from_the_context():
    first, second = windows([9, 1, 0, 0, 9, 0, 0, 4, 0, 9, 99], [9, 1, 0, 0, 9, 0, 0, 0, 3, 9, 99])
    assert first == {"answer": "Paris stood", "start": 11, "end": 22, "score": 7.0}
    assert CONTEXT[first["start"] : first["end"]] == first["answer"]
    assert second == {"answer": "", "start": -1, "end": -1, "score": None}


def test_an_answer_does_not_end_before_it_starts_and_is_no_longer_than_asked():
    starts, ends = [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], [0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert windows(starts, ends)[0]["answer"] == "."
    starts, ends = [0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
    assert windows(starts, ends, longest=3)[0]["answer"] == "Rome fell."
    assert windows(starts, ends, longest=2)[0]["score"] == 5


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
    first, second = multiple_choice.decode(np.array([0.0, np.log(4), 1, 2, 0]), encoded([1] * 5, [0, 0, 1, 1, 1]), rows)
    assert (first["choice"], first["text"]) == (1, "y")
    assert first["probabilities"] == pytest.approx([0.2, 0.8])
    assert (second["choice"], second["text"]) == (1, "b")
    assert sum(second["probabilities"]) == pytest.approx(1)


def test_ranks_within_a_query():
    rows = rows_of(*[None] * 5, groups=["a", "b", "a", "a", "b"])
    predictions = ranking.decode(np.array([0.5, 1, 0.5, 0.9, 2]), rows)
    assert [p["rank"] for p in predictions] == [2, 2, 3, 1, 1]
    assert predictions[3]["score"] == 0.9
