from types import SimpleNamespace

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.heads import Pooler
from ptcli.model.residual.pre import PreNorm
from ptcli.model.sharing.groups import GroupSharing
from ptcli.optimizer.groups import parameter_groups
from ptcli.task.adversarial.fgm import FastGradient
from ptcli.task.initialise import check_length, initialise
from ptcli.task.pooling import PooledToken

from ..model.build import encoder
from .batches import batch_of, step_of

PLAIN = {"pooler": None, "trained_segments": 2, "fresh": lambda: encoder(seed=9)}


def test_what_is_new_is_named():
    assert initialise(step_of(pooling=PooledToken), **PLAIN) == [
        "starting random: objective.pooling.pooler.dense.weight, objective.pooling.pooler.dense.bias, "
        "objective.head.classifier.weight, objective.head.classifier.bias"
    ]


@pytest.mark.parametrize("apart", [False, True])
def test_a_pooler_that_pairs_trained_is_copied(apart):
    step, pooler = step_of(pooling=PooledToken, apart=apart), Pooler(32)
    remarks = initialise(step, **PLAIN | {"pooler": pooler})
    own = next(part for part in step.modules() if isinstance(part, Pooler))
    assert torch.equal(own.dense.weight, pooler.dense.weight)
    assert own.dense.weight is not pooler.dense.weight
    assert "as pretraining on pairs left it" in remarks[0]
    assert "pooler" not in remarks[1]


def test_a_pooler_that_the_task_has_no_place_for_is_not_spoken_of():
    assert len(initialise(step_of(), **PLAIN | {"pooler": Pooler(32)})) == 1


def test_the_second_segment_begins_as_the_first_where_one_was_trained():
    step = step_of()
    remarks = initialise(step, **PLAIN | {"trained_segments": 1})
    rows = step.model.embeddings.types.weight
    assert torch.equal(rows[0], rows[1])
    assert "begins as a copy" in remarks[0]
    untouched = step_of()
    initialise(untouched, **PLAIN)
    assert not torch.equal(*untouched.model.embeddings.types.weight)
    for size in (0, 1):
        assert len(initialise(step_of(model=encoder(type_vocab_size=size)), **PLAIN | {"trained_segments": 1})) == 1


def test_the_last_layers_start_random_and_no_others():
    step, fresh = step_of(), encoder(seed=9)
    before = {name: tensor.clone() for name, tensor in step.model.state_dict().items()}
    remarks = initialise(step, **PLAIN, reinitialise_layers=1)
    assert remarks[-1] == "starting random all the same: the last 1 of 2 layers"
    for name, tensor in step.model.state_dict().items():
        assert torch.equal(tensor, fresh.state_dict()[name] if name.startswith("blocks.1.") else before[name]), name


@pytest.mark.parametrize(("layers", "embeddings"), [(0, True), (1, True), (2, True), (1, False)])
def test_what_is_frozen_does_not_move_and_all_else_does(layers, embeddings):
    step = step_of(model=encoder(residual=PreNorm))
    remarks = initialise(step, **PLAIN, freeze_layers=layers, freeze_embeddings=embeddings)
    step(batch_of(), {"scored": 6})[0].backward()
    for name, parameter in step.named_parameters():
        place = name.removeprefix("model.").split(".")[0]
        block = int(name.split(".")[2]) if place == "blocks" else None
        frozen = block < layers if block is not None else embeddings and place in ("embeddings", "positions")
        assert (parameter.grad is None) == frozen, name
    frozen = sum(p.numel() for p in step.parameters() if not p.requires_grad)
    assert f"{frozen:,} parameters" in remarks[-1]
    groups = parameter_groups(step, learning_rate=1e-3, weight_decay=0.1, layer_decay=0.9)
    assert sum(p.numel() for g in groups for p in g["params"]) == sum(p.numel() for p in step.parameters()) - frozen


@pytest.mark.parametrize(
    ("changes", "settings", "message"),
    [
        ({}, {"freeze_layers": 3}, r"task\.freeze_layers=3 must lie between 0 and 2"),
        ({}, {"reinitialise_layers": -1}, r"task\.reinitialise_layers=-1 must lie"),
        ({}, {"freeze_layers": 2, "reinitialise_layers": 1}, "meet in a model of 2 layers"),
        ({"adversarial": FastGradient()}, {"freeze_embeddings": True}, "without the gradient"),
    ],
)
def test_what_does_not_go_is_refused(changes, settings, message):
    with pytest.raises(ConfigError, match=message):
        initialise(step_of(**changes), **PLAIN, **settings)


@pytest.mark.parametrize("key", ["freeze_layers", "reinitialise_layers"])
def test_shared_layers_are_treated_alike(key):
    shared = {"sharing": GroupSharing(num_groups=1, inner_group_num=1)}
    settings = PLAIN | {"fresh": lambda: encoder(seed=9, **shared)}
    with pytest.raises(ConfigError, match=rf"task\.{key}=1 .*model/sharing.* or 2 for all layers"):
        initialise(step_of(model=encoder(**shared)), **settings, **{key: 1})
    initialise(step_of(model=encoder(**shared)), **settings, **{key: 2})


def test_rows_longer_than_learned_places_are_refused():
    learned, endless = SimpleNamespace(longest_row=512), SimpleNamespace(longest_row=None)
    with pytest.raises(ConfigError, match=r"max_length=65.*at most 64 tokens.*Use max_length=64"):
        check_length(learned, max_length=65, longest=64, checkpoint="runs/mine")
    check_length(learned, max_length=64, longest=64, checkpoint="runs/mine")
    check_length(endless, max_length=650, longest=64, checkpoint="runs/mine")
