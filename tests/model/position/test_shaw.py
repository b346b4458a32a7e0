import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.position.shaw import ShawPositions

from .relative import PLACES, SHAPE, attention, by_pairs, plain_value, run


@pytest.mark.parametrize("values", [True, False])
def test_equals_the_formula(values):
    position = ShawPositions(SHAPE, max_distance=3, values=values)
    module, hidden = attention(position), torch.randn(2, 6, 16)
    tables = module.relations["position"]

    def row_of(row, i, j):
        return int((PLACES[row, j] - PLACES[row, i]).clamp(-3, 3)) + 3

    def score(row, head, i, j, query, key):
        return query @ (key + tables.key.weight[row_of(row, i, j)]) / 8**0.5

    def value(row, head, i, j, content):
        return content + tables.value.weight[row_of(row, i, j)]

    wanted = by_pairs(module, hidden, score, value if values else plain_value)
    torch.testing.assert_close(run(module, position, hidden), wanted, rtol=1e-5, atol=1e-5)


def test_each_layer_has_tables_of_its_own_and_the_position_none():
    position = ShawPositions(SHAPE)
    assert not list(position.parameters())
    assert {name: tuple(p.shape) for name, p in position.relation().named_parameters()} == {
        "key.weight": (33, 8),
        "value.weight": (33, 8),
    }
    assert [name for name, _ in ShawPositions(SHAPE, values=False).relation().named_parameters()] == ["key.weight"]


def test_refuses_no_distance():
    with pytest.raises(ConfigError, match=r"shaw\.max_distance=0"):
        ShawPositions(SHAPE, max_distance=0)
