import math

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.position.sinusoidal import SinusoidalPositions
from ptcli.model.shape import Shape


def shape(embedding_size):
    return Shape(
        vocab_size=5,
        num_layers=1,
        hidden_size=8,
        num_heads=2,
        intermediate_size=8,
        embedding_size=embedding_size,
    )


@pytest.mark.parametrize("size", [8, 7])
def test_equals_the_papers_formula(size):
    waves = SinusoidalPositions(shape(size))(torch.tensor([[0, 3, 1000]]))
    assert waves.shape == (1, 3, size)
    for at, place in enumerate([0, 3, 1000]):
        for i in range(size):
            angle = place / 10000 ** ((i - i % 2) / size)
            wanted = math.cos(angle) if i % 2 else math.sin(angle)
            assert abs(waves[0, at, i].item() - wanted) < 1e-4


def test_has_no_weights():
    assert not list(SinusoidalPositions(shape(8)).parameters())
    assert not SinusoidalPositions(shape(8)).state_dict()


def test_refuses_a_base_that_makes_no_waves():
    with pytest.raises(ConfigError, match=r"sinusoidal\.base=0.5"):
        SinusoidalPositions(shape(8), base=0.5)
