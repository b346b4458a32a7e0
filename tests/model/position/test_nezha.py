import math

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.position.nezha import NezhaPositions

from .relative import PLACES, SHAPE, attention, by_pairs, run


def wave(place: int) -> torch.Tensor:
    turns = [place / 10000 ** (2 * (k // 2) / 8) for k in range(8)]
    return torch.tensor([math.cos(turn) if k % 2 else math.sin(turn) for k, turn in enumerate(turns)])


def test_equals_the_formula():
    """score q.(k + a), output sum p (v + a), a the wave of clamp(j - i, -n, n) + n: spelt out pair by pair."""
    position = NezhaPositions(SHAPE, max_distance=4)
    module, hidden = attention(position), torch.randn(2, 6, 16)

    def vector(row, i, j):
        return wave(int((PLACES[row, j] - PLACES[row, i]).clamp(-4, 4)) + 4)

    wanted = by_pairs(
        module,
        hidden,
        lambda row, head, i, j, query, key: query @ (key + vector(row, i, j)) / 8**0.5,
        lambda row, head, i, j, content: content + vector(row, i, j),
    )
    torch.testing.assert_close(run(module, position, hidden), wanted, rtol=1e-5, atol=1e-5)


def test_nothing_is_learned():
    assert not [*NezhaPositions(SHAPE).parameters(), *NezhaPositions(SHAPE).relation().parameters()]


@pytest.mark.parametrize("changes", [{"max_distance": 0}, {"base": 1.0}])
def test_refusals(changes):
    with pytest.raises(ConfigError, match=r"model\.position\.nezha\."):
        NezhaPositions(SHAPE, **changes)
