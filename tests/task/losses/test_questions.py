import pytest
import torch
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.losses.questions import ChoiceLoss, RankLoss

SCORES = torch.tensor([1.0, 0.5, -1.0, 2.0, 0.0, 0.3])[:, None]
QUESTIONS = torch.tensor([7, 3, 7, 3, 7, 9])  # of any numbers, in any order
NAN = float("nan")


def test_choices_of_a_question_share_a_softmax():
    batch = {"question_numbers": QUESTIONS, "example_labels": torch.tensor([1, 1, 0, 0, 0, 1])}
    scored = ChoiceLoss()(SCORES, batch)
    of_seven = F.cross_entropy(SCORES[[0, 2, 4], 0], torch.tensor(0))
    of_three = F.cross_entropy(SCORES[[1, 3], 0], torch.tensor(0))
    torch.testing.assert_close(scored.losses, torch.tensor([of_seven, of_three, 0, 0, 0, 0]))
    assert scored.is_scored.tolist() == [True, True, False, False, False, True]
    assert scored.hits.tolist() == [True, False, False, False, False, True]


def test_a_question_without_a_right_choice_is_not_scored():
    batch = {"question_numbers": QUESTIONS, "example_labels": torch.full((6,), IGNORE_INDEX)}
    scored = ChoiceLoss()(SCORES, batch)
    assert not scored.is_scored.any()
    assert not scored.losses.any()


def test_ranking_averages_the_pairs_of_a_query_that_differ():
    relevance = torch.tensor([2.0, 0.0, 0.0, 1.0, 1.0, 5.0])
    scored = RankLoss()(SCORES, {"question_numbers": QUESTIONS, "example_labels": relevance})
    s = SCORES[:, 0]
    of_seven = torch.stack([F.softplus(s[j] - s[i]) for i, j in ((0, 2), (0, 4), (4, 2))]).mean()
    of_three = F.softplus(s[1] - s[3])
    torch.testing.assert_close(scored.losses, torch.tensor([of_seven, of_three, 0, 0, 0, 0]))
    assert scored.is_scored.tolist() == [True, True, False, False, False, False]  # one candidate orders nothing
    assert scored.hits.tolist() == [True, True, False, False, False, False]


def test_one_pair_in_the_wrong_order_or_tied_is_a_miss():
    batch = {"question_numbers": torch.zeros(3, dtype=torch.int64), "example_labels": torch.tensor([2.0, 1.0, 0.0])}
    assert RankLoss()(torch.tensor([[3.0], [2.0], [1.0]]), batch).hits.tolist() == [True, False, False]
    assert not RankLoss()(torch.tensor([[3.0], [1.0], [1.0]]), batch).hits.any()


def test_candidates_without_relevance_take_no_part():
    relevance = torch.tensor([1.0, NAN, 0.0, NAN, NAN, NAN])
    outputs = SCORES.clone().requires_grad_()
    scored = RankLoss()(outputs, {"question_numbers": QUESTIONS, "example_labels": relevance})
    scored.losses.sum().backward()
    torch.testing.assert_close(scored.losses.sum(), F.softplus(SCORES[2, 0] - SCORES[0, 0]))
    assert outputs.grad[:, 0].ne(0).tolist() == [True, False, True, False, False, False]


@pytest.mark.parametrize("loss", [ChoiceLoss(), RankLoss()])
def test_divergences_are_those_of_the_softmax_of_a_question(loss):
    other = SCORES.flip(0)
    wanted = 0.0
    for number in (3, 7, 9):
        p, q = (scores[number == QUESTIONS, 0].softmax(0) for scores in (SCORES, other))
        wanted += ((p - q) * (p / q).log()).sum()
    torch.testing.assert_close(loss.divergence(SCORES, other, {"question_numbers": QUESTIONS}), wanted)
