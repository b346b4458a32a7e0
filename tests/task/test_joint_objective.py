"""Objectives that take turns: each batch reaches its own, and no weight of another moves."""

import pytest
import torch

from ptcli.batch.contract import MEMBER
from ptcli.errors import ConfigError
from ptcli.optimizer.adamw import AdamW
from ptcli.task.adversarial.fgm import FastGradient
from ptcli.task.adversarial.smart import SmoothnessRegulariser
from ptcli.task.joint_objective import JointObjective
from ptcli.task.objective import TaskObjective
from ptcli.task.pooling import ClassificationToken
from ptcli.trainer.step import TrainingStep

from ..model.build import encoder
from .batches import HEAD, batch_of

TARGETS = {"labels": "class", "numbers": "value", "tags": "tokens"}
COUNTS = {"scored": 6}


def objective_of(model, target, name="task", **settings) -> TaskObjective:
    pooling = None if target in ("tokens", "span") else ClassificationToken
    return TaskObjective(model=model, target=target, num_labels=3, head=HEAD, pooling=pooling, name=name, **settings)


@pytest.fixture
def step():
    model = encoder()
    return TrainingStep(model, JointObjective({n: objective_of(model, t, n) for n, t in TARGETS.items()}))


def batch(name: str) -> dict:
    return {**batch_of(target=TARGETS[name]), MEMBER: torch.empty((0, list(TARGETS).index(name)), dtype=torch.uint8)}


@pytest.mark.parametrize("name", TARGETS)
def test_a_batch_has_the_loss_of_its_own_objective(step, name):
    step.eval()
    own = step.objective.members[step.objective.names.index(name)]
    found, wanted = step.objective(step.model, batch(name)), own(step.model, batch_of(target=TARGETS[name]))
    assert list(found.sums) == [name]
    torch.testing.assert_close(found.sums[name], wanted.sums[name])
    total, _ = step(batch(name), COUNTS)
    torch.testing.assert_close(total, wanted.sums[name] / 6)


@pytest.mark.parametrize("name", TARGETS)
def test_another_tasks_step_leaves_a_head_as_it_is_and_moves_the_encoder(step, name):
    """Also with weight decay and momentum: what has no gradient is no parameter of that update."""
    optimizer = AdamW(step, learning_rate=1e-2, weight_decay=0.5)
    for other in TARGETS:  # momentum everywhere
        for parameter in step.parameters():
            parameter.grad = None
        step(batch(other), COUNTS)[0].backward()
        optimizer.step()
    before = {key: tensor.clone() for key, tensor in step.state_dict().items()}
    for parameter in step.parameters():
        parameter.grad = None
    step(batch(name), COUNTS)[0].backward()
    optimizer.step()
    changed = {key for key, tensor in step.state_dict().items() if not torch.equal(tensor, before[key])}
    own = f"objective.members.{list(TARGETS).index(name)}."
    assert {key for key in changed if key.startswith("objective.")} == {key for key in before if key.startswith(own)}
    layers = {key for key in before if key.startswith("model.")}
    assert len(changed & layers) > len(layers) / 2


def test_losses_of_one_name_are_refused():
    model = encoder()
    with pytest.raises(ConfigError, match="has the name of another task's"):
        JointObjective({"a": objective_of(model, "class"), "b": objective_of(model, "value")})


def test_either_all_tasks_go_through_a_batch_twice_or_none():
    model = encoder()
    settings = {"same": 0.25, "more": 0.5}
    fgm = {n: objective_of(model, "class", n, adversarial=FastGradient(epsilon=e)) for n, e in settings.items()}
    twin = objective_of(model, "value", "twin", adversarial=FastGradient(epsilon=0.25))
    plain = objective_of(model, "value", "plain")
    smart = objective_of(model, "value", "smart", adversarial=SmoothnessRegulariser())
    assert JointObjective({"same": fgm["same"], "twin": twin}).second_pass is not None
    assert JointObjective({"plain": plain, "smart": smart}).second_pass is None
    for other in (plain, fgm["more"], smart):
        with pytest.raises(ConfigError, match="fgm goes through every micro-batch twice"):
            JointObjective({"same": fgm["same"], "other": other})
