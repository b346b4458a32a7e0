import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.task.adversarial.smart import SmoothnessRegulariser

from ..batches import TARGETS, batch_of, step_of

SMART = SmoothnessRegulariser()


@pytest.mark.parametrize("target", TARGETS)
def test_a_part_of_the_loss_for_every_target_in_training_alone(target):
    step, batch = step_of(target, adversarial=SmoothnessRegulariser(weight=2.0, radius=0.1)), batch_of(target=target)
    total, loss = step(batch, {"scored": 6})
    added = loss.sums["task_adversarial"]
    assert torch.isfinite(added)
    assert added > 0
    torch.testing.assert_close(total, (loss.sums["task"] + 2 * added) / 6)
    total.backward()
    assert all(torch.isfinite(p.grad).all() for p in step.parameters())
    assert list(step.eval().objective(step.model, batch).sums) == ["task"]


def test_the_change_is_one_step_up_from_noise_with_the_radius_as_its_largest_number():
    torch.manual_seed(0)
    matrix, like = torch.randn(4, 3), torch.zeros(2, 5, 4)
    seen = []

    def again(noise):
        seen.append(noise.detach().clone())
        return noise @ matrix

    def divergence(one, other):
        return (one - other).square().sum()

    smart = SmoothnessRegulariser(noise=1e-3, step_size=2e-3, radius=0.5)
    outputs = torch.zeros(2, 5, 3)
    cost = smart(outputs, again, divergence, like=like)
    noise, moved = seen
    assert 1e-4 < noise.std() < 1e-2
    slope = noise @ matrix @ matrix.T
    climbed = noise + 2e-3 * slope / slope.abs().amax(-1, keepdim=True)
    torch.testing.assert_close(moved, 0.5 * climbed / climbed.abs().amax(-1, keepdim=True))
    torch.testing.assert_close(cost, divergence(moved @ matrix, outputs))


def test_it_finds_a_worse_change_than_noise_of_the_same_size():
    step, batch = step_of(adversarial=SmoothnessRegulariser(radius=0.3)), batch_of()
    torch.manual_seed(0)
    found = step.objective(step.model, batch).sums["task_adversarial"]
    outputs = step.objective._outputs(step.model, batch)
    random = []
    for _ in range(20):
        noise = torch.rand(*batch["input_ids"].shape, 32) * 2 - 1
        noise = 0.3 * noise / noise.abs().amax(-1, keepdim=True)
        moved = step.objective._outputs(step.model, {**batch, "token_noise": noise})
        random.append(step.objective.loss.divergence(moved, outputs, batch))
    assert found > torch.stack(random).mean()


def test_a_slope_that_is_not_finite_is_no_direction():
    def divergence(one, other):
        return (one - other).abs().sqrt().sum()  # infinite slope at 0

    like = torch.zeros(1, 2, 4)
    moved = []
    SMART(like, lambda noise: moved.append(noise.detach()) or noise * 0, divergence, like=like)
    assert torch.isfinite(moved[-1]).all()


@pytest.mark.parametrize("key", ["weight", "noise", "step_size", "radius"])
def test_values_out_of_range_are_refused(key):
    with pytest.raises(ConfigError, match=rf"task\.adversarial\.{key}=0"):
        SmoothnessRegulariser(**{key: 0})
