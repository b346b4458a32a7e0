"""Groups of every model: by which rules the papers' codes agree, and what Muon and layer-wise decay take."""

from pathlib import Path

import pytest
import torch

from ptcli.assembly.model import make_model
from ptcli.assembly.parts import part
from ptcli.config.compose import composer
from ptcli.optimizer.groups import depths_of, parameter_groups
from ptcli.optimizer.muon import Muon

MODELS = sorted(path.stem for path in (Path(__file__).parents[2] / "conf" / "model").glob("*.yaml"))


@pytest.fixture(scope="module")
def models():
    """Every model with a pair head, small, without memory."""
    with composer("pretrain") as compose, torch.device("meta"):
        return {
            name: make_model(config, 40, part(config, "pair"))
            for name in MODELS
            for config in [compose([f"model={name}", "pair=sentence_order"]).config]
        }


def exempt(module, rule):
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    groups = parameter_groups(module, learning_rate=1.0, weight_decay=0.1, decay_exempt=rule)
    return {names[id(p)] for group in groups if group["is_exempt"] for p in group["params"]}


def named_as_norm_or_bias(module):
    """The rule by names of BERT, transformers and MT-DNN: every parameter of a norm, and what is named a bias."""
    inside = {
        f"{name}.{own}"
        for name, part in module.named_modules()
        if "Norm" in type(part).__name__
        for own, _ in part.named_parameters(recurse=False)
    }
    kept = {name for name, _ in module.named_parameters()}
    return (inside & kept) | {name for name in kept if name.rpartition(".")[2].endswith("bias")}


# where the rule by dimensions and the rule by names disagree
MATRICES_NAMED_BIAS = {"deberta": {"query_value_bias"}}
NUMBERS_OF_NO_NORM = {name: {"model.positions.scaled_sinusoidal.scale"} for name in ("crammed", "crammed_undropped")}


@pytest.mark.parametrize("name", MODELS)
def test_the_rules_agree_but_for_biases_that_are_matrices(models, name):
    module = models[name]
    by_default, by_dimensions = exempt(module, "vectors_and_biases"), exempt(module, "vectors")
    assert by_default - named_as_norm_or_bias(module) == NUMBERS_OF_NO_NORM.get(name, set())
    assert named_as_norm_or_bias(module) <= by_default
    odd = {parameter.rpartition(".")[2] for parameter in by_default - by_dimensions}
    assert odd == MATRICES_NAMED_BIAS.get(name, set())
    assert by_dimensions <= by_default
    assert exempt(module, "none") == set()


@pytest.mark.parametrize("name", MODELS)
def test_depths_lead_from_the_heads_to_the_embeddings(models, name):
    module = models[name]
    depths, layers = depths_of(module), len(module.model.layers())
    assert set(depths) == set(module.parameters())
    assert depths[module.model.embeddings.tokens.weight] == layers + 1
    assert {depths[p] for p in module.objective.pair_head.parameters()} == {0}
    assert {depths[p] for p in module.model.layers()[-1].parameters()} == {1}
    groups = parameter_groups(module, learning_rate=1.0, weight_decay=0.1, layer_decay=0.8)
    assert sum(len(group["params"]) for group in groups) == len(list(module.parameters()))
    for group in groups:
        assert [group["lr"]] * len(group["params"]) == pytest.approx([0.8 ** depths[p] for p in group["params"]])


@pytest.mark.parametrize("name", MODELS)
def test_muon_takes_weights_of_layers(models, name):
    module = models[name]
    optimizer = Muon(module)
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    matrices = [p for group in optimizer.param_groups if group["use_muon"] for p in group["params"]]
    assert matrices
    assert all(names[id(p)].startswith("model.blocks.") and names[id(p)].endswith("weight") for p in matrices)
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(list(module.parameters()))
