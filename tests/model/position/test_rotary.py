import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.model.position.rotary import RotaryPositions
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=16, num_heads=2, intermediate_size=8, embedding_size=16)


def turned(heads, places, base=10000.0):
    return RotaryPositions(SHAPE, base=base)(torch.tensor([places]))(heads)


def test_turns_each_pair_by_its_angle():
    torch.manual_seed(0)
    heads = torch.randn(1, 3, 2, 2, 8)
    out = turned(heads, [0, 4, 9], base=100.0)
    for at, place in enumerate([0, 4, 9]):
        for pair in range(4):
            angle = place / 100.0 ** (2 * pair / 8)
            turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            wanted = heads[0, at, :, :, [pair, pair + 4]] @ turn.T
            torch.testing.assert_close(out[0, at, :, :, [pair, pair + 4]], wanted, rtol=1e-5, atol=1e-6)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_scores_depend_on_the_distance_alone(first, second, shift):
    torch.manual_seed(0)
    heads = torch.randn(1, 1, 2, 2, 8).expand(1, 2, 2, 2, 8)

    def score(a, b):
        both = turned(heads, [a, b])
        return (both[0, 0, 0] * both[0, 1, 1]).sum(-1)

    torch.testing.assert_close(score(first, second), score(first + shift, second + shift), rtol=1e-3, atol=1e-3)


def test_keeps_lengths_and_the_first_place():
    heads = torch.randn(1, 2, 2, 2, 8)
    out = turned(heads, [0, 77])
    torch.testing.assert_close(out.norm(dim=-1), heads.norm(dim=-1))
    assert torch.equal(out[:, 0], heads[:, 0])


def test_low_precision_keeps_exact_angles():
    far = RotaryPositions(SHAPE)(torch.tensor([[4001]]), dtype=torch.bfloat16)
    assert far.cos.dtype is torch.bfloat16
    assert abs(far.cos[0, 0, 0, 0, 0].item() - math.cos(4001)) < 0.01  # 4001 itself is no bfloat16 number


def test_refusals():
    odd = Shape(vocab_size=5, num_layers=1, hidden_size=6, num_heads=2, intermediate_size=8, embedding_size=6)
    with pytest.raises(ConfigError, match="heads are 3 wide"):
        RotaryPositions(odd)
    with pytest.raises(ConfigError, match=r"rotary\.base=1"):
        RotaryPositions(SHAPE, base=1.0)
