import pytest
import torch
from torch import nn

from ptcli.trainer.step import TrainingStep
from tests.trainer.toy import ToyModel, ToyObjective, counts_of, cut, rows


def gradients(micro_size, batch):
    torch.manual_seed(0)
    model = ToyModel(dropout=0.0)
    step = TrainingStep(model, ToyObjective(model)).double()
    step.objective.decoder.weight = model.tokens.weight
    total = 0.0
    for part in cut(batch, micro_size):
        value, _ = step(part, counts_of(batch))
        value.backward()
        total += value.item()
    return total, {name: parameter.grad for name, parameter in step.named_parameters()}


@pytest.mark.parametrize("micro_size", [1, 2, 3, 4, 7])
def test_accumulation_gives_the_gradient_of_the_whole_batch(micro_size):
    batch = rows(torch.Generator().manual_seed(3), 8)
    per_row = (batch["labels"] >= 0).sum(1)
    assert len(set(per_row.tolist())) > 2
    assert (batch["pair_labels"] >= 0).sum() not in (0, 8)
    whole, expected = gradients(8, batch)
    total, found = gradients(micro_size, batch)
    assert total == pytest.approx(whole, abs=1e-12)
    for name, gradient in expected.items():
        assert gradient.abs().max() > 0
        torch.testing.assert_close(found[name], gradient, rtol=0, atol=1e-9)


def test_the_mean_is_over_the_step_and_not_over_the_micro_batches():
    batch = rows(torch.Generator().manual_seed(3), 8)
    model = ToyModel(dropout=0.0)
    step = TrainingStep(model, ToyObjective(model))
    value, loss = step(cut(batch, 8)[0], counts_of(batch))
    by_hand = (
        loss.sums["masked_lm"] / counts_of(batch)["labels"] + 0.5 * loss.sums["pair"] / counts_of(batch)["pair_labels"]
    )
    torch.testing.assert_close(value, by_hand)


def test_a_step_without_scored_positions_is_zero_and_has_a_gradient():
    batch = rows(torch.Generator().manual_seed(3), 2)
    batch["labels"][:] = -100
    batch["pair_labels"][:] = -100
    model = ToyModel()
    step = TrainingStep(model, ToyObjective(model))
    value, _ = step(cut(batch, 2)[0], counts_of(batch))
    value.backward()
    assert value.item() == 0
    assert all(torch.isfinite(p.grad).all() for p in step.parameters())


def test_names_are_those_of_model_and_objective():
    step = TrainingStep(nn.Linear(2, 2), nn.Linear(2, 1))
    assert {name.split(".")[0] for name, _ in step.named_parameters()} == {"model", "objective"}
