from functools import partial

import pytest
import torch

from ptcli.task.head.linear import LinearHead

from ..model.build import encoder
from .batches import TARGETS, batch_of, step_of


@pytest.mark.parametrize("target", TARGETS)
def test_two_passes_are_compared_and_their_losses_averaged(target):
    step, batch = step_of(target, model=encoder(dropout=0.3), r_drop=3.0), batch_of(target=target)
    torch.manual_seed(5)
    total, loss = step(batch, {"scored": 6})
    torch.manual_seed(5)
    one, other = (step.objective._outputs(step.model, batch) for _ in range(2))
    wanted = step.objective.loss
    torch.testing.assert_close(
        loss.sums["task"], (wanted(one, batch).losses.sum() + wanted(other, batch).losses.sum()) / 2
    )
    torch.testing.assert_close(loss.sums["task_r_drop"], wanted.divergence(one, other, batch) / 2)
    assert loss.sums["task_r_drop"] > 0
    torch.testing.assert_close(total, (loss.sums["task"] + 3 * loss.sums["task_r_drop"]) / 6)
    assert list(step.eval().objective(step.model, batch).sums) == ["task"]


@pytest.mark.parametrize("changes", [{"model": {"attention_dropout": 0.1}}, {"head": partial(LinearHead, dropout=0.1)}])
def test_any_dropout_serves(changes):
    model = encoder(**changes.pop("model", {}))
    step, batch = step_of(model=model, r_drop=1.0, **changes), batch_of()
    assert step(batch, {"scored": 6})[1].sums["task_r_drop"] > 0
