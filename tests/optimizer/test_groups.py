import torch
from torch import nn

from ptcli.optimizer.groups import describe_groups, parameter_groups
from ptcli.trainer.step import TrainingStep
from tests.trainer.toy import ToyModel, ToyObjective


def test_every_parameter_once_and_vectors_do_not_decay():
    model = ToyModel()
    step = TrainingStep(model, ToyObjective(model))
    groups = parameter_groups(step, weight_decay=0.1)
    names = {id(p): n for n, p in step.named_parameters()}
    found = {g["name"]: {names[id(p)] for p in g["params"]} for g in groups}
    assert found == {
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
    assert sum(len(g["params"]) for g in groups) == len(list(step.parameters()))


def test_a_bias_that_is_a_matrix_and_a_frozen_parameter():
    module = nn.Module()
    module.r_w_bias = nn.Parameter(torch.zeros(2, 2))
    module.weight = nn.Parameter(torch.zeros(2, 2), requires_grad=False)
    (group,) = parameter_groups(module, weight_decay=0.1)
    assert group["name"] == "not decayed"
    assert group["params"] == [module.r_w_bias]
    assert describe_groups([group]) == "not decayed: 4 parameters in 1 tensors, weight decay 0"
