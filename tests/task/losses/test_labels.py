import torch
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.losses.labels import ClassLoss, TokenLoss

LOGITS = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))


def test_the_divergence_of_logits_is_the_symmetric_one_of_kullback_and_leibler():
    other = LOGITS.flip(0)
    p, q = LOGITS.log_softmax(-1), other.log_softmax(-1)
    wanted = F.kl_div(p, q, log_target=True, reduction="sum") + F.kl_div(q, p, log_target=True, reduction="sum")
    torch.testing.assert_close(ClassLoss().divergence(LOGITS, other, {}), wanted)
    assert ClassLoss().divergence(LOGITS, LOGITS + 3, {}) < 1e-6


def test_nothing_labelled_gives_zero_with_a_live_graph():
    logits = LOGITS.clone().requires_grad_()
    scored = ClassLoss()(logits, {"example_labels": torch.full((5,), IGNORE_INDEX)})
    scored.losses.sum().backward()
    assert scored.losses.sum() == 0
    assert not scored.is_scored.any()
    assert not logits.grad.any()


def test_tokens_are_scored_by_their_own_labels_and_told_apart_in_predictions():
    labels = torch.tensor([0, 1, IGNORE_INDEX, 2, 1])
    scored = TokenLoss()(LOGITS, {"token_labels": labels})
    torch.testing.assert_close(scored.losses, F.cross_entropy(LOGITS, labels, reduction="none"))
    assert scored.is_scored.tolist() == [True, True, False, True, True]
    assert list(TokenLoss().predictions(LOGITS, {})) == ["token_logits"]
