"""Fine-tuned models in ONNX, one of each kind, and each pooling."""

import pytest
import torch

from ptcli.interop.module import PlainTask
from ptcli.task.head.linear import LinearHead
from ptcli.task.pooling import AttentionPooling, LastToken, MaxPooling, MeanPooling, PooledToken
from tests.model.build import encoder
from tests.task.batches import TARGETS, alone, step_of

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
from ptcli.interop.onnx import compare, write

LENGTH = 24


def plain_of(target, **changes) -> PlainTask:
    step = step_of(target, model=encoder(), **changes)
    return PlainTask(step.model, step.objective, target=target).eval()


@pytest.mark.parametrize("target", TARGETS)
def test_a_row_gives_what_the_objective_predicts(target):
    plain, batch = plain_of(target), alone(target=target)
    with torch.no_grad():
        found = plain(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
        wanted = plain.objective.predict(plain.model, batch)
    if target == "span":
        inside = batch["context_places"]
        torch.testing.assert_close(found[..., 0][inside], wanted["start_logits"].view_as(inside)[inside])
        torch.testing.assert_close(found[..., 1][inside], wanted["end_logits"].view_as(inside)[inside])
    elif target == "tokens":
        torch.testing.assert_close(found.flatten(0, 1)[batch["token_positions"]], wanted["token_logits"])
    else:
        (values,) = wanted.values()
        torch.testing.assert_close(found, values.view_as(found))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_onnxruntime_says_the_same_of_every_kind(target, tmp_path):
    plain = plain_of(target)
    file = write(tmp_path, plain, head=True, max_length=LENGTH)
    assert compare(file, plain, head=True, max_length=LENGTH).error < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("pooling", [PooledToken, MeanPooling, MaxPooling, LastToken, AttentionPooling])
def test_onnxruntime_says_the_same_of_every_pooling(pooling, tmp_path):
    plain = plain_of("class", pooling=pooling, head=LinearHead)
    file = write(tmp_path, plain, head=True, max_length=LENGTH)
    assert compare(file, plain, head=True, max_length=LENGTH).error < 1e-5
