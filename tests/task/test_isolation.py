"""A model whose attention mixes the positions of a row never has two examples in one, in training or answering."""

from itertools import islice

import numpy as np
import pytest
import torch

from ptcli.batch.task_loader import TaskLoader
from ptcli.finetuning.judge import ask
from ptcli.task.classification import Classification
from ptcli.task.rows import Row
from ptcli.trainer.trainer import Trainer
from tests.model.build import encoder
from tests.model.mixing import mixing_encoder
from tests.task.batches import step_of
from tests.task.words import KNOWN, letters

TASK = Classification()
SETTINGS = {"vocab_size": letters().vocabulary.size}
MODELS = {"full attention": encoder, "mean of the row": mixing_encoder}


def rows_of(changed: int | None = None) -> list[Row]:
    """Twelve texts of one to four words, one of which may be another and longer text."""
    texts = [" ".join(KNOWN[(number + place) % len(KNOWN)] for place in range(1 + number % 4)) for number in range(12)]
    if changed is not None:
        texts[changed] = "dog dog dog dog who"
    return [Row(index=n, texts=(text,), label="ab"[n % 2], source=f"rows:{n}") for n, text in enumerate(texts)]


def encoded(changed: int | None = None):
    return TASK.encode(rows_of(changed), tokenizer=letters(), max_length=16, labels=("a", "b"))


def step_with(model):
    return step_of("class", model=model(**SETTINGS), num_labels=2).eval()


def answers(step, changed: int | None = None) -> np.ndarray:
    asked = {"tokenizer": letters(), "max_length": 16, "batch_size": 12, "trainer": Trainer(device="cpu")}
    return ask(step, TASK, encoded(changed), **asked)["logits"]


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_depends_on_its_own_row_alone(model):
    step = step_with(MODELS[model])
    before, after = answers(step), answers(step, changed=5)
    others = np.arange(12) != 5
    np.testing.assert_allclose(before[others], after[others], rtol=1e-4, atol=1e-5)
    assert np.abs(before[5] - after[5]).max() > 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_a_loss_in_training_depends_on_its_own_row_alone(model):
    step = step_with(MODELS[model])
    found = []
    for changed in (None, 5):
        loader = TaskLoader(
            [encoded(changed)],
            isolates=step.model.isolates,
            longest_row=step.model.longest_row,
            vocabulary=letters().vocabulary,
            max_length=16,
            batch_size=12,
            micro_size=12,
            seed=1,
        )
        (batch,) = next(iter(islice(loader.steps(), 1))).micro_batches
        logits = step.objective.predict(step.model, batch)["logits"]
        found.append(logits[batch["example_numbers"].argsort()])
    others = torch.arange(12) != 5
    torch.testing.assert_close(found[0][others], found[1][others], rtol=1e-4, atol=1e-5)


def test_in_a_shared_row_they_would_not():
    """What the tests above would miss if rows were shared: the same attention, said to keep examples apart."""
    step = step_with(lambda **changes: mixing_encoder(says_so=False, **changes))
    before, after = answers(step), answers(step, changed=5)
    others = np.arange(12) != 5
    assert np.abs(before - after)[others].max() > 1e-3
