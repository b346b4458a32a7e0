import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ptcli.model.context import compute_dtype, visibility_mask, window_mask


def seen(mask):
    return mask == 0


def test_full_rows_of_one_example_need_no_mask():
    assert visibility_mask(torch.ones(2, 5, dtype=torch.int64), torch.float32) is None


def test_padded_rows_mask_keys():
    mask = visibility_mask(torch.tensor([[1, 1, 0], [1, 1, 1]]), torch.float32)
    assert mask.shape == (2, 1, 1, 3)
    assert seen(mask)[0, 0, 0].tolist() == [True, True, False]
    assert mask.min() == float("-inf")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=4))
def test_real_positions_see_just_their_own_example(dtype, ids):
    sequence_ids = torch.tensor(ids)
    mask = visibility_mask(sequence_ids, dtype)
    batch, length = sequence_ids.shape
    mask = torch.zeros(batch, 1, length, length, dtype=dtype) if mask is None else mask.expand(-1, 1, length, -1)
    assert mask.dtype is dtype
    visible = seen(mask)[:, 0]
    own = sequence_ids[:, :, None] == sequence_ids[:, None, :]
    real = sequence_ids > 0
    assert torch.equal(visible[real], own[real])
    assert visible.any(-1).all(), "a query without a key"


def test_under_compilation_the_form_does_not_depend_on_the_data(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert visibility_mask(torch.ones(2, 5, dtype=torch.int64), torch.float32).shape == (2, 1, 5, 5)


def test_compute_dtype_follows_autocast():
    weight = torch.zeros(1)
    assert compute_dtype(weight) is torch.float32
    assert compute_dtype(weight.double()) is torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert compute_dtype(weight) is torch.bfloat16
    assert compute_dtype(torch.zeros(1, device="meta")) is torch.float32


def test_a_window_reaches_half_its_size_on_each_side():
    mask = window_mask(torch.tensor([[0, 1, 2, 3, 4]]), 4, torch.float32)
    assert seen(mask)[0, 0].int().tolist() == [
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
        [0, 1, 1, 1, 1],
        [0, 0, 1, 1, 1],
    ]


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=4))
def test_no_query_is_left_without_a_key_by_a_window(ids):
    sequence_ids = torch.tensor(ids).sort(-1, descending=True).values  # as rows are laid out: padding last
    first = (sequence_ids[:, :, None] == sequence_ids[:, None, :]).int().argmax(-1)
    position_ids = torch.where(sequence_ids > 0, torch.arange(6) - first, 0)
    mask = visibility_mask(sequence_ids, torch.float32)
    within = window_mask(position_ids, 2, torch.float32)
    assert seen(within if mask is None else within + mask).any(-1).all()
