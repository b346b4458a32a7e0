"""NEZHA equals that of transformers 4.57.1 with the same weights; make_nezha.py wrote what that computes."""

from pathlib import Path

import pytest
import torch
from hydra.utils import instantiate
from safetensors.torch import load_file
from torch import Tensor

from .build import PAIR, Together, compose_model
from .reference import bert_names, stacked
from .test_parity import close

LAYERS = 2
SMALL = {"num_layers": LAYERS, "hidden_size": 32, "num_heads": 4, "intermediate_size": 48}
STILL = {"dropout": 0.0, "attention_dropout": 0.0, "position.nezha.max_distance": 6}


@pytest.fixture(scope="module")
def theirs() -> dict[str, Tensor]:
    return load_file(Path(__file__).with_name("nezha.safetensors"))


def under_our_names(theirs: dict[str, Tensor], kind: str) -> dict[str, Tensor]:
    names = {
        ours: [f"{kind}.{name.replace('bert.', 'nezha.', 1)}" for name in parts]
        for ours, parts in bert_names(LAYERS).items()
        if "positions" not in ours
    }
    used = {name for parts in names.values() for name in parts}
    assert used == {name for name in theirs if name.startswith(f"{kind}.")}, "one is missed"
    return stacked(theirs, names)


@pytest.fixture
def ours(tmp_path, theirs) -> Together:
    changes = [f"model.{key}={value}" for key, value in (SMALL | STILL).items()]
    config = compose_model(tmp_path, "model=nezha", *changes)
    model = instantiate(config.model, vocab_size=61)
    whole = Together(model, instantiate(config.objective, model=model, pair=PAIR))
    whole.load_state_dict(under_our_names(theirs, "weights"), strict=True)
    return whole


def batch_of(theirs: dict[str, Tensor], rows: slice = slice(None)) -> dict[str, Tensor]:
    batch = {name: theirs[name][rows] for name in ("input_ids", "attention_mask", "token_type_ids", "labels")}
    batch["sequence_ids"] = batch["attention_mask"]
    batch["position_ids"] = torch.arange(batch["input_ids"].shape[1]).expand_as(batch["input_ids"])
    batch["pair_labels"] = torch.full_like(batch["labels"], -100)
    batch["pair_labels"][:, 0] = theirs["next_sentence_label"][rows]
    for kind in ("label", "pair"):
        scored = batch["labels" if kind == "label" else "pair_labels"] != -100
        batch[f"{kind}_positions"] = scored.flatten().nonzero().flatten()
    return batch


def test_hidden_states_logits_loss_and_gradients(ours, theirs):
    batch = batch_of(theirs)
    real = batch["attention_mask"].bool()
    hidden = ours.model(batch)
    close(hidden[real], theirs["hidden_states"][real], "hidden states")
    wanted = theirs["logits"].flatten(0, 1)[batch["label_positions"]]
    close(ours.objective.predict(ours.model, batch), wanted, "masked-LM logits")
    close(ours.objective.pair_head(hidden[:, 0]), theirs["pair_logits"], "pair logits")

    loss = ours(batch)
    total = sum(loss.sums[part] / loss.counts[part] for part in loss.sums)
    close(total, theirs["loss"], "loss")
    total.backward()
    gradients = under_our_names(theirs, "gradients")
    for name, parameter in ours.named_parameters():
        close(parameter.grad, gradients[name], f"gradient of {name}")


def test_a_row_without_padding(ours, theirs):
    first = slice(0, 1)
    assert bool(theirs["attention_mask"][first].all())
    close(ours.model(batch_of(theirs, first)), theirs["hidden_states"][first], "hidden states")


def test_another_distance_is_seen(ours, theirs):
    ours.model.positions["nezha"].max_distance = 7
    with pytest.raises(AssertionError, match="hidden"):
        close(ours.model(batch_of(theirs))[:1], theirs["hidden_states"][:1], "hidden")
