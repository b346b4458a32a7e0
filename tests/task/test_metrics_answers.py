"""Answers are compared as the scripts of SQuAD 1.1, SQuAD 2.0 and CMRC 2018 do, by their published rules."""

import numpy as np
import pytest

from ptcli.task.metrics import extractive_qa
from ptcli.task.metrics.answer_texts import (
    chinese_exact,
    chinese_f1,
    chinese_units,
    english_exact,
    english_f1,
    english_words,
)
from ptcli.task.metrics.score import measure
from ptcli.task.metrics.threshold import best_threshold
from tests.task.judged_rows import questions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Cat", ["cat"]),
        ("an apple, a  pear!", ["apple", "pear"]),
        ("Theatre and another", ["theatre", "and", "another"]),  # articles are whole words
        ("U.S.A.", ["usa"]),
        ("the-end", ["theend"]),  # punctuation goes first, so no article is left
        ("a.b", ["ab"]),
        ("“quoted”", ["“quoted”"]),  # ASCII punctuation only
        ("the the", []),
        ("", []),
    ],
)
def test_english_words(text, words):
    assert english_words(text) == words


@pytest.mark.parametrize(
    ("predicted", "truth", "exact", "f1"),
    [
        ("Denver Broncos", "the Denver Broncos!", 1, 1),
        ("Broncos", "Denver Broncos", 0, 2 / 3),
        ("Broncos Denver", "Denver Broncos", 0, 1),  # a bag of words
        ("cat cat dog", "cat dog dog", 0, 2 / 3),  # counted with how often
        ("lion", "Denver Broncos", 0, 0),
        ("", "", 1, 1),
        ("", "Denver", 0, 0),
        ("Denver", "", 0, 0),
        ("the", "", 1, 1),
    ],
)
def test_english_answers(predicted, truth, exact, f1):
    assert english_exact(predicted, truth) == exact
    assert english_f1(predicted, truth) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("北京市。", ["北", "京", "市"]),
        ("NBA总冠军", ["nba", "总", "冠", "军"]),
        ("1,234.5元", ["1,234.5", "元"]),
        ("50%的人", ["50", "%", "的", "人"]),
        ("Red Hot 乐队", ["red", "hot", "乐", "队"]),
        ("e-mail", ["email"]),  # the hyphen is removed before words are divided
        ("《红楼梦》", ["红", "楼", "梦"]),
        ("...", [".", ".", "."]),  # no mark of the script's own list
    ],
)
def test_chinese_units(text, units):
    assert chinese_units(text) == units


@pytest.mark.parametrize(
    ("predicted", "truth", "exact", "f1"),
    [
        ("《红楼梦》", "红楼梦", 1, 1),
        ("NBA", "nba", 1, 1),
        ("北京", "北京市", 0, 2 * 2 / 5),
        ("北大京", "北京市", 0, 2 * 1 / 6),  # the longest run without gaps
        ("上海", "北京", 0, 0),
        ("", "北京", 0, 0),
        ("", "", 1, 0),
        ("a b", "ab", 0, 0),  # spaces stay in the exact comparison
    ],
)
def test_chinese_answers(predicted, truth, exact, f1):
    assert chinese_exact(predicted, truth) == exact
    assert chinese_f1(predicted, truth) == pytest.approx(f1)


def scores_of(predicted, *answers, resamples=0):
    outcomes = extractive_qa.outcomes_of([{"answer": text} for text in predicted], questions(*answers))
    return measure(outcomes, extractive_qa.METRICS, resamples=resamples)


def test_the_best_of_several_answers_counts():
    scores = scores_of(["Denver Broncos"], ("Broncos", "The Denver Broncos", "Carolina"))
    assert scores["exact_match"].value == 1
    assert scores["f1"].value == 1


def test_questions_with_and_without_answer():
    """Means over all, over those with an answer, over those without: SQuAD 2.0's total, HasAns, NoAns."""
    scores = scores_of(["Paris", "Rome", "", "Oslo"], ("Paris",), ("Rome Italy",), (), ())
    assert scores["exact_match"].value == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert scores["f1"].value == pytest.approx((1 + 2 / 3 + 1 + 0) / 4)
    assert scores["answerable_exact_match"].value == 0.5
    assert scores["answerable_f1"].value == pytest.approx(5 / 6)
    assert scores["unanswerable_accuracy"].value == 0.5


def test_truths_without_a_word_are_passed_over_while_another_has_one():
    assert scores_of([""], ("the", "cat"))["exact_match"].value == 0
    assert scores_of([""], ("the",))["exact_match"].value == 1


def test_chinese_answers_of_a_set():
    scores = scores_of(["北京", "1998年"], ("北京市", "北京。"), ("1998",))
    assert scores["exact_match_zh"].value == 0.5
    assert scores["f1_zh"].value == pytest.approx((1 + 2 / 3) / 2)


def test_empty_answers_and_missing_kinds_of_questions_are_said():
    scores = scores_of(["", ""], ("Paris",), ("Rome",), resamples=20)
    assert scores["f1"].value == 0
    assert scores["f1"].remark == "none of the 2 questions is answered"
    assert scores["unanswerable_accuracy"].value is None
    assert scores["unanswerable_accuracy"].remark == "every question has an answer"
    assert scores_of(["x"], None)["f1"].value is None


def test_the_best_threshold_of_some_questions():
    """A question is left without an answer where its score lies above; one with an infinite score always is."""
    scores = np.array([3.0, -2.0, 0.5, np.inf])
    assert best_threshold(scores, np.array([0.0, 1, 1, 1]), np.array([1.0, 0, 0, 0])) == (0.5, 0.75)
    assert best_threshold(scores, np.zeros(4), np.ones(4)) == (-3.0, 1.0)  # nothing is answered
    assert best_threshold(scores, np.ones(4), np.zeros(4)) == (3.0, 0.75)
    equal = best_threshold(np.array([1.0, 1.0]), np.array([1.0, 0]), np.array([0.0, 1]))
    assert equal == (0.0, 0.5)  # what has one score is answered together
    assert best_threshold(np.full(2, np.inf), np.ones(2), np.zeros(2)) == (0.0, 0.0)


def test_each_answer_is_compared_once():
    """A thousand bootstrap samples of many questions take no longer than looking up numbers."""
    outcomes = extractive_qa.outcomes_of([{"answer": "a b c"}] * 300, questions(*[("b c d",)] * 300))
    measure(outcomes, extractive_qa.METRICS, resamples=20)
    assert outcomes.take(outcomes.places[:5]).known is outcomes.known
    assert len(outcomes.known) == 4
