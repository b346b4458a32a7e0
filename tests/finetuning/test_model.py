"""What a task begins with: the weights, the pooler and the segments of a checkpoint."""

import pytest
import torch
from transformers import BertForSequenceClassification, RobertaForSequenceClassification

from ptcli.errors import ConfigError
from ptcli.finetuning.base import load_base
from ptcli.run.find import find_model
from ptcli.run.load import load_any
from ptcli.task.head.linear import LinearHead
from ptcli.task.head.tanh import TanhHead
from ptcli.task.initialise import initialise
from ptcli.task.objective import TaskObjective
from ptcli.task.pooling import ClassificationToken, PooledToken
from ptcli.trainer.step import TrainingStep
from tests.interop import foreign
from tests.task.batches import batch_of


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def base_of(folder, **settings):
    return load_base(str(folder), plugins=(), **({"random_weights": False, "seed": 1} | settings))


def initialised(base, **changes) -> TrainingStep:
    objective = TaskObjective(model=base.model, target="class", num_labels=3, **changes)
    step = TrainingStep(base.model, objective)
    initialise(step, pooler=base.pooler, trained_segments=base.segments, fresh=base.fresh)
    return step.eval()


def theirs_of(model, batch):
    inputs = {key: batch[key] for key in ("input_ids", "attention_mask", "token_type_ids")}
    with torch.no_grad():
        return model(**inputs).logits


@pytest.mark.parametrize("kind", ["bert", "ernie"])
def test_the_pooler_of_a_family_that_pretrains_on_pairs_comes_along(kind, tmp_path):
    theirs = foreign.make(kind)
    base = base_of(foreign.save(theirs, tmp_path))
    assert torch.equal(base.pooler.dense.weight, getattr(theirs, kind).pooler.dense.weight)
    assert not any("pooler.dense" in remark for remark in base.remarks)
    assert any("not used" in remark and "seq_relationship" in remark for remark in base.remarks)
    step = initialised(base, head=LinearHead, pooling=PooledToken)
    assert torch.equal(step.objective.pooling.pooler.dense.weight, base.pooler.dense.weight)


@pytest.mark.parametrize("kind", ["roberta", "electra", "modernbert"])
def test_families_without_pairs_have_none(kind, tmp_path):
    assert base_of(foreign.save(foreign.make(kind), tmp_path)).pooler is None


def test_a_model_that_is_asked_to_fill_is_as_before(tmp_path):
    model = load_any(str(foreign.save(foreign.make("bert"), tmp_path)))
    assert not model.missing
    assert not any("pooler" in name for name in model.step.state_dict())


def test_random_weights_have_no_pooler_either(tmp_path):
    folder = foreign.save(foreign.make("bert"), tmp_path)
    base, known = base_of(folder, random_weights=True), base_of(folder)
    assert base.pooler is None
    assert not torch.equal(base.model.embeddings.tokens.weight, known.model.embeddings.tokens.weight)


def test_pooler_and_matrix_are_transformers_head_of_bert(tmp_path):
    folder = foreign.save(foreign.make("bert"), tmp_path)
    theirs = BertForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    step = initialised(base_of(folder), head=LinearHead, pooling=PooledToken)
    step.objective.head.classifier.load_state_dict(theirs.classifier.state_dict())
    batch = batch_of([[9], [6], [12]])
    torch.testing.assert_close(
        step.objective.predict(step.model, batch)["logits"], theirs_of(theirs, batch), rtol=1e-4, atol=1e-5
    )


def test_tanh_over_the_first_token_is_transformers_head_of_roberta(tmp_path):
    folder = foreign.save(foreign.make("roberta"), tmp_path)
    theirs = RobertaForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    step = initialised(base_of(folder), head=TanhHead, pooling=ClassificationToken)
    step.objective.head.dense.load_state_dict(theirs.classifier.dense.state_dict())
    step.objective.head.classifier.load_state_dict(theirs.classifier.out_proj.state_dict())
    batch = batch_of([[9], [6], [12]])
    batch["input_ids"][batch["input_ids"] == 1] = 7  # padding of theirs
    batch["input_ids"][batch["attention_mask"] == 0] = 1
    flat = batch | {"token_type_ids": torch.zeros_like(batch["token_type_ids"])}  # one row: theirs knows no second
    torch.testing.assert_close(
        step.objective.predict(step.model, batch)["logits"], theirs_of(theirs, flat), rtol=1e-4, atol=1e-5
    )


def test_a_folder_of_several_runs_names_them(tmp_path):
    for name in ("fold-2", "fold-1"):
        (tmp_path / name / "model").mkdir(parents=True)
        (tmp_path / name / "model" / "model.safetensors").touch()
    with pytest.raises(ConfigError, match=r"holds 2 runs.*checkpoint=.*fold-1, checkpoint=.*fold-2$"):
        find_model(str(tmp_path))
