"""Each family: a model of transformers is read, gives the same numbers and gradients, and is written as it was."""

import json

import pytest
import torch
from safetensors.torch import load_file

from ptcli.config.bind import plain_values
from ptcli.export.target import find_target
from ptcli.interop.families import family_of
from ptcli.interop.huggingface import write
from ptcli.interop.module import PlainModel
from ptcli.interop.rows import random_rows, relative_error
from ptcli.run.load import load_any

from . import foreign


@pytest.fixture(scope="module", params=foreign.MODELS)
def both(request, tmp_path_factory):
    theirs = foreign.make(request.param)
    folder = foreign.save(theirs, tmp_path_factory.mktemp(request.param))
    return theirs, load_any(str(folder))


def rows(length: int = 23):
    return random_rows(3, length, vocab_size=len(foreign.ENTRIES), num_types=1, pad_token_id=1)


def logits_of(theirs, inputs):
    out = theirs(**inputs)
    return out["prediction_logits"] if "prediction_logits" in out else out["logits"]


@torch.no_grad()
def test_logits_and_hidden_states_of_padded_rows(both):
    theirs, saved = both
    plain = PlainModel(saved.step.model, saved.step.objective)
    inputs = rows()
    real = inputs["attention_mask"].bool()
    assert relative_error(plain(**inputs)[real], logits_of(theirs, inputs)[real]) < 1e-5
    hidden = theirs.base_model(**inputs).last_hidden_state
    assert relative_error(plain.hidden_states(**inputs)[real], hidden[real]) < 1e-5
    assert not saved.missing


def test_gradients(both):
    theirs, saved = both
    inputs = rows()
    real = inputs["attention_mask"].bool()
    target = torch.randint(0, len(foreign.ENTRIES), real.shape, generator=torch.Generator().manual_seed(2))[real]
    for model, logits in (
        (theirs, logits_of(theirs, inputs)),
        (saved.step, PlainModel(saved.step.model, saved.step.objective)(**inputs)),
    ):
        model.zero_grad()
        torch.nn.functional.cross_entropy(logits[real], target).backward()
    ours = saved.step.model.embeddings.tokens.weight.grad
    reference = theirs.get_input_embeddings().weight.grad
    used = torch.arange(len(foreign.ENTRIES)) != 1  # transformers gives the padding token no gradient
    assert relative_error(ours[used], reference[used]) < 1e-5


def test_what_is_written_is_what_was_read(both, tmp_path):
    theirs, saved = both
    target, _ = find_target(plain_values(saved.config), pad_token_id=1)
    assert target is not None
    family = family_of(theirs.config.model_type)
    write(
        tmp_path,
        saved.step,
        family=target.family,
        numbers=target.numbers,
        tokenizer=saved.tokenizer,
        max_length=32,
        with_head=target.head,
        tied=target.tied,
    )
    assert target.family is family
    before, after = load_file(saved.folder / "model.safetensors"), load_file(tmp_path / "model.safetensors")
    pairs = {name for name in before if "seq_relationship" in name or "sop_classifier" in name or "pooler" in name}
    assert set(before) - pairs == set(after)
    unused = {"cls.predictions.bias"} if not theirs.config.tie_word_embeddings else set()
    assert all(torch.equal(before[name], after[name]) for name in set(after) - unused)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["model_type"] == theirs.config.model_type
    reloaded = type(theirs.config).from_pretrained(tmp_path)
    no_table = {"max_position_embeddings"} if saved.step.model.longest_row is None else set()  # then nothing ends there
    described = [key for key in target.numbers if hasattr(theirs.config, key) and key not in no_table]
    assert len(described) > 10
    for key in described:
        assert getattr(reloaded, key) == getattr(theirs.config, key), key


def test_a_wrong_weight_is_seen(both):
    theirs, saved = both
    weight = saved.step.model.blocks[-1].attention.output.weight
    before = weight.detach().clone()
    with torch.no_grad():
        weight[0, -1] += 1e-2
        inputs = rows()
        real = inputs["attention_mask"].bool()
        found = PlainModel(saved.step.model, saved.step.objective)(**inputs)[real]
        assert relative_error(found, logits_of(theirs, inputs)[real]) > 1e-5
        weight.copy_(before)
