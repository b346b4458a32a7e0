import torch

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.losses.spans import SpanLoss

from ..batches import batch_of

BATCH = batch_of([[6, 4], [8]], target="span")
OUTPUTS = torch.randn(20, 2, generator=torch.Generator().manual_seed(0))
STRETCHES = [(0, 6), (6, 10), (10, 18)]


def logs(outputs, side):
    """Log-probabilities of each example's places, by a softmax of its own."""
    allowed = BATCH["context_places"].flatten()
    masked = outputs[:, side].masked_fill(~allowed, float("-inf"))
    return [masked[begin:end].log_softmax(0) for begin, end in STRETCHES]


def test_losses_are_cross_entropies_over_the_places_of_the_example_where_an_answer_may_lie():
    scored = SpanLoss()(OUTPUTS, BATCH)
    for number, (begin, _) in enumerate(STRETCHES):
        ends = [BATCH["span_starts"][number] - begin, BATCH["span_ends"][number] - begin]
        wanted = -sum(logs(OUTPUTS, side)[number][ends[side]] for side in (0, 1)) / 2
        torch.testing.assert_close(scored.losses[number], wanted)
    assert scored.is_scored.all()


def test_hits_have_both_ends_right():
    outputs = OUTPUTS.clone()
    outputs[BATCH["span_starts"], 0] = 9.0
    outputs[BATCH["span_ends"][:2], 1] = 9.0
    outputs[17, 1] = -9.0
    assert SpanLoss()(outputs, BATCH).hits.tolist() == [True, True, False]


def test_an_example_without_a_span_is_not_scored_and_the_question_never_learns():
    batch = BATCH | {"span_starts": BATCH["span_starts"].clone(), "span_ends": BATCH["span_ends"].clone()}
    batch["span_starts"][0] = batch["span_ends"][0] = IGNORE_INDEX
    outputs = OUTPUTS.clone().requires_grad_()
    scored = SpanLoss()(outputs, batch)
    scored.losses.sum().backward()
    assert scored.is_scored.tolist() == [False, True, True]
    assert scored.losses[0] == 0
    learns = outputs.grad.any(-1)
    assert not learns[:6].any()
    assert torch.equal(learns[6:], BATCH["context_places"].flatten()[6:])
    assert torch.isfinite(outputs.grad).all()


def test_predictions_are_finite_where_an_answer_may_lie():
    told = SpanLoss().predictions(OUTPUTS, BATCH)
    for side, name in enumerate(("start_logits", "end_logits")):
        allowed = BATCH["context_places"].flatten()
        assert torch.equal(torch.isfinite(told[name]), allowed)
        assert torch.equal(told[name][allowed], OUTPUTS[allowed, side])


def test_the_divergence_is_the_mean_of_both_ends_and_has_a_finite_gradient():
    one, other = OUTPUTS.clone().requires_grad_(), OUTPUTS.flip(0)
    given = SpanLoss().divergence(one, other, BATCH)
    wanted = 0.0
    for side in (0, 1):
        for p, q in zip(logs(one.detach(), side), logs(other, side), strict=True):
            seen = torch.isfinite(p)
            wanted += ((p[seen].exp() - q[seen].exp()) * (p[seen] - q[seen])).sum() / 2
    torch.testing.assert_close(given, wanted)
    given.backward()
    assert torch.isfinite(one.grad).all()
    assert one.grad.any()
