"""Outputs of packed batches come back in the order of what was encoded, whatever their order in a row."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn

from ptcli.batch.task_loader import TaskLoader
from ptcli.task.encoded import Encoded
from ptcli.task.outputs import outputs_of
from ptcli.tokenizer.vocabulary import Vocabulary


class Step(nn.Module):
    """What a trained step looks like to those who ask it."""

    def __init__(self, objective):
        super().__init__()
        self.model, self.objective = nn.Identity(), objective


class Echo:
    """Says of each example, labelled token or place which id stands there: what is said is known beforehand."""

    def __init__(self, target, apart=False):
        self._target, self._apart = target, apart

    def predict(self, model, batch):
        ids = batch["input_ids"].flatten()
        if self._target == "span":
            return {"start_logits": ids.float(), "example_begins": batch["example_positions"]}
        if self._target == "tokens":
            return {"token_logits": torch.stack([ids, -ids], -1)[batch["token_positions"]]}
        firsts = ids[batch["example_positions"] + 1]
        return {"logits": firsts[::2] if self._apart else firsts}


def encoded(number=23, *, apart=False):
    """Examples of 3 to 9 tokens; token i of all has the id 100 + i, but a special one begins each."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(3, 10, number)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = 100 + np.arange(offsets[-1])
    marked = np.sort(generator.choice(np.setdiff1d(np.arange(offsets[-1]), offsets), 30, replace=False))
    rows = np.arange(number) // 2 if apart else np.arange(number)
    return Encoded(
        tokens=tokens.astype(np.int32),
        offsets=offsets.astype(np.int64),
        segments=np.zeros(offsets[-1], np.uint8),
        row_of_example=rows.astype(np.int64),
        example_labels=np.zeros(number, np.int64),
        token_positions=marked.astype(np.int64),
        token_words=np.arange(30),
        token_labels=np.zeros(30, np.int64),
        span_starts=np.zeros(number, np.int64),
        span_ends=np.zeros(number, np.int64),
        context=np.ones(offsets[-1], bool),
        question_numbers=rows.astype(np.int64) if apart else None,
    )


def say(target, given, *, micro_size, apart=False):
    loader = TaskLoader(
        [given],
        isolates=True,
        longest_row=None,
        vocabulary=VOCABULARY,
        max_length=24,
        batch_size=micro_size,
        micro_size=micro_size,
        seed=3,
    )
    step = Step(Echo(target, apart))
    step.train()
    found = outputs_of(step, loader.once(), given, target=target, device=torch.device("cpu"), autocast=nullcontext)
    assert step.training
    return found


class _Vocabulary:
    pad_token_id = 0


VOCABULARY: Vocabulary = _Vocabulary()  # type: ignore[assignment]


@pytest.mark.parametrize("micro_size", [1, 4, 23])
def test_each_value_comes_to_its_place(micro_size):
    given = encoded()
    np.testing.assert_array_equal(
        say("class", given, micro_size=micro_size)["logits"], given.tokens[given.offsets[:-1] + 1]
    )
    found = say("span", given, micro_size=micro_size)
    np.testing.assert_array_equal(found["start_logits"], given.tokens)
    assert "example_begins" not in found
    marked = given.tokens[given.token_positions]
    np.testing.assert_array_equal(
        say("tokens", given, micro_size=micro_size)["token_logits"], np.stack([marked, -marked], -1)
    )


def test_texts_encoded_apart_have_one_value_a_row():
    given = encoded(22, apart=True)
    firsts = given.tokens[given.offsets[:-1] + 1]
    np.testing.assert_array_equal(say("class", given, micro_size=5, apart=True)["logits"], firsts[::2])
