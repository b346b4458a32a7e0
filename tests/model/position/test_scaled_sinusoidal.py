import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.position.scaled_sinusoidal import ScaledSinusoidalPositions
from ptcli.model.position.sinusoidal import SinusoidalPositions
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=16, num_heads=2, intermediate_size=8, embedding_size=16)


def test_is_the_waves_times_a_learned_number():
    places = torch.tensor([[0, 3, 700]])
    scaled = ScaledSinusoidalPositions(SHAPE)
    torch.testing.assert_close(scaled(places), SinusoidalPositions(SHAPE)(places) / 4)
    assert [p.numel() for p in scaled.parameters()] == [1]
    scaled(places).sum().backward()
    assert scaled.scale.grad is not None


def test_refuses_a_base_of_one():
    with pytest.raises(ConfigError, match=r"scaled_sinusoidal\.base=1"):
        ScaledSinusoidalPositions(SHAPE, base=1.0)
