import json

import pytest
import torch
from torch import nn

from ptcli.trainer.norms import Norms
from tests.optimizer.toy import build, whole
from tests.trainer.toy import train


def lengths(module):
    """By group of decay: the 2-norm over all gradients, and copies of the parameters."""
    groups = {"decayed": [], "not_decayed": []}
    for parameter in module.parameters():
        groups["decayed" if parameter.ndim > 1 else "not_decayed"].append(parameter)
    return groups


@pytest.mark.parametrize("name", ["adamw", "lamb", "schedule_free"])
def test_norms_are_those_of_all_numbers_of_a_group(name):
    module = whole()
    optimizer = build(name, module)
    norms = Norms(optimizer, every=1)
    for number in (1, 2):
        optimizer.zero_grad()
        module.loss(number).backward()
        groups = lengths(module)
        gradients = {group: torch.cat([p.grad.flatten() for p in groups[group]]).norm().item() for group in groups}
        before = {group: torch.cat([p.detach().flatten() for p in groups[group]]) for group in groups}
        norms.step(number=number, before=0.1, after=0.2)
        found = norms.line()
        assert len(found) == 4
        for group, parameters in groups.items():
            moved = torch.cat([p.detach().flatten() for p in parameters]) - before[group]
            assert found[f"train/grad_norm/{group}"] == pytest.approx(gradients[group])
            assert found[f"train/update_norm/{group}"] == pytest.approx(moved.norm().item(), rel=1e-5)
        assert norms.line() == {}


def test_only_steps_that_are_logged_are_measured():
    module = nn.Linear(2, 2)
    norms = Norms(build("adamw", module), every=3)
    measured = []
    for number in range(1, 9):
        for parameter in module.parameters():
            parameter.grad = torch.ones_like(parameter)
        norms.step(number=number, before=(number - 1) / 8, after=number / 8)
        measured.append(bool(norms.line()))
    assert measured == [False, False, True, False, False, True, False, True]


def test_a_run_logs_them_on_request_and_trains_the_same(tmp_path):
    with_norms = train(tmp_path / "with", steps=6, log_norms=True)
    without = train(tmp_path / "without", steps=6)
    for one, other in zip(with_norms.step.parameters(), without.step.parameters(), strict=True):
        assert torch.equal(one, other)
    lines = {
        name: [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("with", "without")
    }
    logged = [line for line in lines["with"] if "train/loss" in line]
    assert len(logged) == 2
    for line in logged:
        found = {key for key in line if "_norm/" in key}
        assert found == {f"train/{kind}_norm/{group}" for kind in ("grad", "update") for group in lengths(nn.Module())}
        assert all(line[key] > 0 for key in found)
    assert not any("_norm/" in key for line in lines["without"] for key in line)
