from functools import partial

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.task.head.san import SanHead

from ..batches import alone, batch_of, step_of


def head(**changes) -> SanHead:
    torch.manual_seed(0)
    made = SanHead(8, num_outputs=3, **({"dropout": 0.0} | changes))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(10)
    return made


def thought_over(san: SanHead, first: torch.Tensor, second: torch.Tensor) -> list[torch.Tensor]:
    """Each step's probabilities for one pair, without batches: the paper's formulas."""
    memory = (san.pool(second).softmax(0) * second).sum(0)
    answers = []
    for step in range(san.steps):
        shares = (first @ san.look(memory)).softmax(0)
        seen = shares @ first
        features = torch.cat((memory, seen, (memory - seen).abs(), memory * seen))
        answers.append(san.classifier(features).softmax(-1))
        if step < san.steps - 1:
            memory = san.remember(seen[None], memory[None])[0]
    return answers


@pytest.mark.parametrize("steps", [1, 5])
def test_it_equals_the_formulas_on_each_pair(steps):
    san = head(steps=steps, step_dropout=0.0).eval()
    batch, hidden = batch_of([[6, 4], [8]]), torch.randn(2, 10, 8)
    logits = san(hidden, batch)
    for given, (row, begin, end) in zip(logits, ((0, 0, 6), (0, 6, 10), (1, 0, 8)), strict=True):
        half = (begin + end) // 2
        answers = thought_over(san, hidden[row, begin:half], hidden[row, half:end])
        torch.testing.assert_close(given.exp(), torch.stack(answers).mean(0))
    assert len(answers) == steps


def test_one_step_has_no_memory_to_renew():
    assert head(steps=1, step_dropout=0.0).remember is None
    assert head(steps=2).remember is not None


def test_evaluation_is_deterministic_and_training_is_not():
    san, batch, hidden = head(step_dropout=0.5), batch_of([[6, 4], [8]]), torch.randn(2, 10, 8)
    san.eval()
    assert torch.equal(san(hidden, batch), san(hidden, batch))
    san.train()
    assert not torch.equal(san(hidden, batch), san(hidden, batch))


def test_dropped_steps_leave_a_mean_of_the_others():
    san, batch, hidden = head(steps=2, step_dropout=0.9), batch_of([[8]]), torch.randn(1, 8, 8)
    one, other = thought_over(san.eval(), hidden[0, :4], hidden[0, 4:])
    san.train()
    seen = [san(hidden, batch)[0].exp() for _ in range(60)]
    for answer in seen:
        assert any(torch.allclose(answer, wanted, atol=1e-6) for wanted in (one, other, (one + other) / 2))
        torch.testing.assert_close(answer.sum(), torch.tensor(1.0))
    partial_means = sum(not torch.allclose(answer, (one + other) / 2, atol=1e-6) for answer in seen)
    assert partial_means > 40  # 0.99 of them on average: never none, seldom both


def test_what_looks_and_what_is_pooled_are_of_different_texts():
    """The first text reaches the memory through what is seen alone, padding and other examples not at all."""
    san, batch, hidden = head(steps=1, step_dropout=0.0).eval(), batch_of([[6, 4], [8]]), torch.randn(2, 10, 8)
    hidden.requires_grad_()
    san(hidden, batch)[0].sum().backward()
    assert hidden.grad[0, :6].abs().sum(-1).all()
    assert not hidden.grad[0, 6:].any()
    assert not hidden.grad[1].any()
    with torch.no_grad():
        san.look.weight.zero_()
        san.look.bias.zero_()
        san.classifier.weight[:, 8:] = 0  # of the features, the memory alone
    hidden.grad = None
    san(hidden, batch)[0, 0].backward()
    assert not hidden.grad[0, :3].any()
    assert hidden.grad[0, 3:6].any()


def test_packed_rows_give_what_one_pair_a_row_gives():
    step = step_of(head=partial(SanHead, dropout=0.0), pooling=None).eval()
    one, other = (step.objective.predict(step.model, batch)["logits"] for batch in (batch_of(), alone()))
    torch.testing.assert_close(one, other)
    step.train()
    step(batch_of(), {"scored": 6})[0].backward()
    assert [name for name, p in step.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "1 step or more"),
        ({"steps": 1}, "leaves out steps"),
        ({"step_dropout": 1.0}, r"task\.head\.step_dropout=1.0"),
    ],
)
def test_values_out_of_range_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        head(**changes)
