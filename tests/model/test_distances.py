import torch
from hypothesis import given
from hypothesis import strategies as st

from ptcli.model.distances import places_apart, rows_by_weight, scores_by_row, waves


def test_places_apart_count_from_the_key_to_the_query():
    assert places_apart(torch.tensor([[0, 1, 5]]))[0].tolist() == [[0, -1, -5], [1, 0, -4], [5, 4, 0]]


@given(st.integers(0, 2**16), st.booleans())
def test_picking_after_the_product_equals_the_formula(seed, own_table_per_head):
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(2, 3, 5, 4, generator=generator)
    table = torch.randn(3 if own_table_per_head else 1, 7, 4, generator=generator)
    index = torch.randint(0, 7, (2, 5, 5), generator=generator)
    chosen = table.expand(3, -1, -1)[:, index]  # (h, B, S, S, d)
    wanted = torch.einsum("bhid,hbijd->bhij", vectors, chosen)
    torch.testing.assert_close(scores_by_row(vectors, table, index), wanted, rtol=1e-5, atol=1e-5)
    weights = torch.rand(2, 3, 5, 5, generator=generator)
    gathered = torch.einsum("bhij,bijd->bhid", weights, table[0][index])
    torch.testing.assert_close(rows_by_weight(weights, table[0], index), gathered, rtol=1e-5, atol=1e-5)


def test_waves_of_an_odd_width_end_with_a_sine():
    angles = torch.tensor([3.0]) * 100.0 ** -torch.tensor([0.0, 2 / 5, 4 / 5])
    wanted = torch.stack((angles.sin(), angles.cos()), -1).flatten()[:5]
    torch.testing.assert_close(waves(torch.tensor(3), 5, base=100.0), wanted)
