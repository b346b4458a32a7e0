"""A run of an optimizer that trains at one point and is judged at another."""

import pytest
import torch
from safetensors.torch import load_file

from ptcli.trainer.judged import judged_weights
from tests.optimizer.toy import build, take_steps, whole
from tests.trainer.toy import train


def schedule_free(step):
    return build("schedule_free", step, learning_rate=0.03)


def test_an_error_while_judging_puts_the_point_of_training_back():
    module = whole()
    optimizer = build("schedule_free", module)
    take_steps(module, optimizer, range(3))
    before = module.model.tokens.weight.detach().clone()
    seen = []

    def fail():
        with judged_weights(optimizer, None):
            seen.append(module.model.tokens.weight.detach().clone())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not torch.equal(seen[0], before)
    assert torch.equal(module.model.tokens.weight, before)


def test_others_are_judged_as_they_are():
    module = whole()
    optimizer = build("adamw", module)
    before = module.model.tokens.weight.detach().clone()
    with judged_weights(optimizer, None):
        assert torch.equal(module.model.tokens.weight, before)


def test_evaluations_and_checkpoints_do_not_change_the_run(tmp_path):
    often = train(tmp_path / "often", make_optimizer=schedule_free, eval_every=2, save_every=3)
    never = train(tmp_path / "never", make_optimizer=schedule_free, evaluate=None, save_every=0)
    for one, other in zip(often.step.parameters(), never.step.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_run_that_was_stopped_ends_with_the_same_bits(tmp_path):
    """The checkpoint holds the point of training, so that nothing is lost to rounding on the way to the average."""
    whole_run = train(tmp_path / "whole", make_optimizer=schedule_free)
    train(tmp_path / "cut", make_optimizer=schedule_free, leave_after=10)
    resumed = train(tmp_path / "cut", make_optimizer=schedule_free)
    assert resumed.state.step == 20
    for one, other in zip(whole_run.step.parameters(), resumed.step.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_average_is_exported_and_evaluated(tmp_path):
    trained, seen = [], []

    def make_optimizer(step):
        trained.append(step)
        return schedule_free(step)

    def evaluate():
        seen.append(trained[0].model.tokens.weight.detach().clone())
        return {"eval/masked_lm_loss": 1.0}

    run = train(tmp_path / "run", make_optimizer=make_optimizer, export=True, evaluate=evaluate)
    exported = load_file(tmp_path / "run" / "model" / "model.safetensors")
    point = run.step.model.tokens.weight.detach().clone()
    run.optimizer.eval()
    average = run.step.model.tokens.weight.detach()
    assert not torch.equal(point, average)
    assert torch.equal(seen[-1], average)
    (name,) = [name for name in exported if name.endswith("tokens.weight")]
    assert torch.equal(exported[name], average)
