import math

import pytest
import torch
from transformers import get_cosine_schedule_with_warmup

from ptcli.schedule.cosine import Cosine
from tests.schedule.curves import factors


def test_points_around_the_end_of_the_warmup_and_the_last():
    found = factors(Cosine(warmup=10), 110)
    assert found[8] == pytest.approx(0.9)
    assert found[9] == found[10] == pytest.approx(1.0)  # W - 1, W
    assert found[11] == pytest.approx(0.5 * (1 + math.cos(math.pi * 1 / 100)))  # W + 1
    assert found[60] == pytest.approx(0.5)  # half-way
    assert found[109] == pytest.approx(0.5 * (1 - math.cos(math.pi * 1 / 100)))


def test_the_decay_is_that_of_the_reference():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    reference = get_cosine_schedule_with_warmup(optimizer, 10, 100)
    expected = []
    for _ in range(100):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        reference.step()
    assert factors(Cosine(warmup=10), 100)[10:] == pytest.approx(expected[10:])


def test_gpt_counts_the_cosine_from_the_first_update():
    """openai/finetune-transformer-lm, warmup_cosine: x / W up to W, then (1 + cos(pi x)) / 2 of the whole run."""
    found = factors(Cosine(warmup=10, decay_from="start"), 100)
    assert found[9] == 1.0
    assert found[10] == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.10)))
    assert found[11] == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.11)))
    assert found[99] == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.99)))


def test_a_tenth_is_left():
    assert factors(Cosine(warmup=0, final=0.1), 1000)[-1] == pytest.approx(0.1, abs=1e-5)
