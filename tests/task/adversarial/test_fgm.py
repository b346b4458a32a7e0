from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.task.adversarial.fgm import FastGradient
from ptcli.trainer.gradient import Gradient
from ptcli.trainer.parallel import Sharded, Single
from ptcli.trainer.precision import LossScale
from ptcli.trainer.ranks import Ranks

from ..batches import batch_of, step_of


@dataclass
class Step:
    micro_batches: list
    counts: dict


def gradient_of(step, micro_batches, **settings):
    """The gradients that the trainer leaves in the parameters, and the parts that it is told."""
    counted = []
    gradient = Gradient(
        Single(step, ranks=Ranks()),
        compile=False,
        device=torch.device("cpu"),
        autocast=lambda: torch.autocast("cpu", enabled=False),
        clip=None,
        seed=1,
        **settings,
    )
    gradient(Step(micro_batches, {"scored": 6}), number=0, add_loss=counted.append)
    return {name: p.grad.clone() for name, p in step.named_parameters()}, counted


def by_hand(step, batch, epsilon):
    """FGM as it is written in its paper's successors: move, go backward once more, move back."""
    step.train()
    step.zero_grad()
    step(batch, {"scored": 6})[0].backward()
    table = step.model.embeddings.tokens.weight
    before = table.data.clone()
    table.data += epsilon * table.grad / table.grad.norm()
    step(batch, {"scored": 6})[0].backward()
    table.data = before
    return {name: p.grad.clone() for name, p in step.named_parameters()}


@pytest.mark.parametrize("scale", [None, LossScale(value=4.0)])
def test_the_gradient_is_that_of_the_plain_and_of_the_moved_pass(scale):
    batch = batch_of()
    wanted = by_hand(step_of(), batch, 0.5)
    step = step_of(adversarial=FastGradient(epsilon=0.5))
    found, counted = gradient_of(step, [batch], scale=scale)
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient, msg=name)
    assert len(counted) == 1  # the loss that is told is the plain one
    plain = step_of()
    torch.testing.assert_close(counted[0].sums, plain.objective(plain.model, batch).sums)


def test_the_weights_are_bitwise_as_before():
    step = step_of(adversarial=FastGradient(epsilon=7.0))
    before = {name: tensor.clone() for name, tensor in step.state_dict().items()}
    gradient_of(step, [batch_of(), batch_of([[7, 4]])])
    assert all(torch.equal(tensor, before[name]) for name, tensor in step.state_dict().items())


def test_a_gradient_that_is_not_finite_moves_nothing():
    step = step_of(adversarial=FastGradient())
    table = step.model.embeddings.tokens.weight
    before = table.detach().clone()
    for bad in (float("nan"), float("inf"), 0.0):
        table.grad = torch.full_like(table, bad)
        with step.second_pass():
            assert torch.equal(table, before)
    table.grad = torch.ones_like(table)
    with step.second_pass():
        assert not torch.equal(table, before)
    assert torch.equal(table, before)


def test_the_moved_pass_costs_more():
    step, batch = step_of(adversarial=FastGradient(epsilon=0.5)), batch_of()
    total = step(batch, {"scored": 6})[0]
    total.backward()
    with step.second_pass():
        assert step(batch, {"scored": 6})[0] > total


def test_shards_are_refused():
    step = step_of(adversarial=FastGradient())
    sharded = Sharded.__new__(Sharded)
    sharded.step = sharded.trained = step
    sharded.ranks = SimpleNamespace(rank=0, size=2)
    with pytest.raises(ConfigError, match=r"Use trainer\.strategy=ddp"):
        Gradient(sharded, compile=False, device=torch.device("cpu"), autocast=torch.enable_grad, clip=None, seed=1)


def test_values_out_of_range_are_refused():
    with pytest.raises(ConfigError, match=r"task\.adversarial\.epsilon=0"):
        FastGradient(epsilon=0)
