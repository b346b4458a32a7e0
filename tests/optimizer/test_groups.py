import pytest
import torch
from torch import nn

from ptcli.optimizer.groups import depths_of, describe_groups, parameter_groups
from ptcli.trainer.step import TrainingStep
from tests.optimizer.toy import whole
from tests.trainer.toy import ToyModel, ToyObjective


def names_in(module, groups):
    names = {id(p): n for n, p in module.named_parameters()}
    return {g["name"]: {names[id(p)] for p in g["params"]} for g in groups}


def test_every_parameter_once_and_vectors_do_not_decay():
    model = ToyModel()
    step = TrainingStep(model, ToyObjective(model))
    groups = parameter_groups(step, learning_rate=0.5, weight_decay=0.1)
    assert names_in(step, groups) == {
        "decayed": {"model.tokens.weight", "model.shared.weight", "objective.pair.weight"},
        "not decayed": {
            "model.shared.bias",
            "model.norm.weight",
            "model.norm.bias",
            "objective.decoder.bias",
            "objective.pair.bias",
        },
    }
    assert [g["weight_decay"] for g in groups] == [0.1, 0.0]
    assert [g["lr"] for g in groups] == [0.5, 0.5]
    assert sum(len(g["params"]) for g in groups) == len(list(step.parameters()))


def odd_module():
    module = nn.Module()
    module.r_w_bias = nn.Parameter(torch.zeros(2, 2))
    module.scale = nn.Parameter(torch.zeros(2))
    module.weight = nn.Parameter(torch.zeros(2, 2), requires_grad=False)
    module.dense = nn.Linear(2, 2, bias=False)
    return module


@pytest.mark.parametrize(
    ("rule", "exempt"), [("vectors_and_biases", {"r_w_bias", "scale"}), ("vectors", {"scale"}), ("none", set())]
)
def test_the_rules_of_the_papers(rule, exempt):
    """XLNet's biases are matrices, which GPT-1's rule by dimensions lets decay; what is frozen is in no group."""
    module = odd_module()
    groups = parameter_groups(module, learning_rate=1.0, weight_decay=0.1, decay_exempt=rule)
    found = names_in(module, groups)
    assert found.get("not decayed", set()) == exempt
    assert found["decayed"] == {"r_w_bias", "scale", "dense.weight"} - exempt


def test_a_line_for_each_group():
    groups = parameter_groups(odd_module(), learning_rate=2e-4, weight_decay=0.1)
    assert describe_groups(groups) == [
        "decayed: 4 parameters in 1 tensors, weight decay 0.1, learning rate 0.0002",
        "not decayed: 6 parameters in 2 tensors, weight decay 0, learning rate 0.0002",
    ]


def test_lower_layers_learn_slower():
    """Four layers of which the first and the third are one: it has the rate of the third."""
    module = whole()
    groups = parameter_groups(module, learning_rate=1.0, weight_decay=0.1, layer_decay=0.5)
    rates = {name: g["lr"] for g in groups for name in names_in(module, [g])[g["name"]]}
    assert rates["objective.bias"] == 1.0
    assert rates["model.final_norm.weight"] == 1.0
    assert rates["model.third.dense.weight"] == rates["model.third.norm.bias"] == 0.5
    assert rates["model.first.dense.weight"] == 0.5**2
    assert rates["model.second.reach.weight"] == 0.5**3
    assert rates["model.tokens.weight"] == 0.5**5  # tied to the head's: an embedding
    assert len(rates) == len(list(module.parameters()))
    assert [g["name"] for g in groups] == [
        "heads, not decayed",
        "layer 4, decayed",
        "layer 4, not decayed",
        "layer 3, decayed",
        "layer 3, not decayed",
        "layer 2, decayed",
        "layer 2, not decayed",
        "embeddings, decayed",
    ]


def test_only_some_of_the_parameters():
    module = whole()
    some = [module.model.third.dense.weight, module.objective.bias]
    groups = parameter_groups(module, learning_rate=1.0, weight_decay=0.1, only=some)
    assert [p for g in groups for p in g["params"]] == some


def test_layers_that_share_only_their_attention():
    module = nn.Module()
    module.model = nn.Module()
    attention = nn.Linear(2, 2)
    blocks = [nn.ModuleDict({"attention": attention, "ffn": nn.Linear(2, 2)}) for _ in range(3)]
    module.model.blocks = nn.ModuleList(blocks)
    module.model.layers = lambda: blocks
    depths = depths_of(module)
    assert depths[attention.weight] == 1
    assert [depths[block["ffn"].weight] for block in blocks] == [3, 2, 1]
