import pytest
import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.muon import Muon, matrices_of
from tests.optimizer.toy import whole


def test_muon_takes_the_matrices_of_the_layers_and_nothing_else():
    module = whole()
    names = {id(p): n for n, p in module.named_parameters()}
    found = {names[id(p)] for p in matrices_of(module)}
    assert found == {"model.first.dense.weight", "model.second.dense.weight", "model.third.dense.weight"}
    optimizer = Muon(module, learning_rate=0.02, adamw_learning_rate=1e-3, weight_decay=0.1)
    assert [(g["name"], g["use_muon"], g["lr"], g["weight_decay"]) for g in optimizer.param_groups] == [
        ("matrices by Muon, decayed", True, 0.02, 0.1),
        ("others by AdamW, decayed", False, 1e-3, 0.1),
        ("others by AdamW, not decayed", False, 1e-3, 0.0),
    ]


@pytest.mark.parametrize("adjust", ["original", "match_rms_adamw"])
def test_equal_to_the_two_optimizers_of_torch(adjust):
    ours, theirs = whole(), whole()
    optimizer = Muon(ours, adjust=adjust, weight_decay=0.1)
    matrices = matrices_of(theirs)
    others = [p for p in theirs.parameters() if p not in set(matrices)]
    tables = [p for p in others if p.ndim > 1]
    vectors = [p for p in others if p.ndim < 2]
    references = [
        torch.optim.Muon(matrices, lr=0.02, weight_decay=0.1, adjust_lr_fn=adjust),
        torch.optim.AdamW(tables, lr=3e-3, eps=1e-6, weight_decay=0.1, fused=True),
        torch.optim.AdamW(vectors, lr=3e-3, eps=1e-6, weight_decay=0.0, fused=True),
    ]
    for number in range(4):
        for module in (ours, theirs):
            module.zero_grad()
            module.loss(number).backward()
        optimizer.step()
        for reference in references:
            reference.step()
    for one, two in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_matrix_steps_in_all_directions_alike():
    """The step's singular values lie near the learning rate, however uneven the gradient's are."""
    module = whole()
    weight = module.model.third.dense.weight
    optimizer = Muon(module, learning_rate=1.0, weight_decay=0.0, momentum=0.0)
    before = weight.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    weight.grad = torch.diag(torch.tensor([1.0, 0.8, 0.5, 0.3, 0.2, 0.1]))
    optimizer.step()
    values = torch.linalg.svdvals(weight.detach() - before)
    assert values.min() > 0.5
    assert values.max() < 1.5


@pytest.mark.parametrize(
    "settings",
    [
        {"momentum": 1.0},
        {"adjust": "none"},
        {"newton_schulz_steps": 0},
        {"newton_schulz_steps": 100},
        {"adamw_learning_rate": 0.0},
    ],
)
def test_values_that_make_no_sense(settings):
    with pytest.raises(ConfigError, match=rf"optimizer\.{next(iter(settings))}="):
        Muon(whole(), **settings)


def test_a_model_without_matrices_in_its_layers():
    module = whole()
    module.model.layers = lambda: [nn.LayerNorm(6)]
    with pytest.raises(ConfigError, match="optimizer=adamw"):
        Muon(module)
