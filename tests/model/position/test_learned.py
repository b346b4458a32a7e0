import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.position.learned import LearnedPositions
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=8, num_heads=2, intermediate_size=8, embedding_size=6)


def test_looks_up_by_place_in_embedding_width():
    positions = LearnedPositions(SHAPE, max_positions=10)
    out = positions(torch.tensor([[3, 0, 3]]))
    assert out.shape == (1, 3, 6)
    assert torch.equal(out[0, 0], out[0, 2])
    assert torch.equal(out[0, 1], positions.table.weight[0])


def test_refuses_no_places():
    with pytest.raises(ConfigError, match="max_positions=0"):
        LearnedPositions(SHAPE, max_positions=0)
