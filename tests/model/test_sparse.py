"""What leaves out hidden pairs gives what a whole mask gives."""

from functools import partial

import pytest
import torch

from ptcli.model import sparse
from ptcli.model.attention.full import FullAttention
from ptcli.model.attention.sliding import SlidingAttention
from ptcli.model.context import Context, visibility_mask, window_mask
from ptcli.model.position.alibi import AlibiPositions
from ptcli.model.position.rotary import RotaryPositions
from ptcli.model.shape import Shape

from .build import encoder, random_rows

ROWS = {
    "full": [[37], [37]],
    "padded": [[37], [11], [36]],
    "packed": [[20, 17], [3, 30], [1, 1, 2, 28, 5]],
    "empty": [[], [12]],
}
SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=64, num_heads=4, intermediate_size=8, embedding_size=64)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(sparse, "BAND_BLOCK", 4)
    monkeypatch.setattr(sparse, "BAND_BLOCKS", 4)


def model(window: int = 6, **changes):
    attention = partial(SlidingAttention, window=window, full_every=3)
    return encoder(num_layers=4, attention=attention, **changes)


def whole_masks(monkeypatch) -> None:
    monkeypatch.setattr(sparse, "BAND_BLOCKS", 10**6)


def computed(ours, batch) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Hidden states of real positions, and all gradients."""
    ours.zero_grad()
    hidden = ours(batch)
    assert hidden.isfinite().all()
    hidden = hidden[batch["attention_mask"].bool()]
    hidden.sin().sum().backward()
    return hidden.detach(), [p.grad for p in ours.parameters()]


def compare(found, wanted) -> None:
    torch.testing.assert_close(found[0], wanted[0], rtol=0, atol=1e-6 * wanted[0].abs().max().item())
    for ours, theirs in zip(found[1], wanted[1], strict=True):
        assert (ours - theirs).abs().max() <= 1e-5 * max(theirs.abs().max().item(), 1e-3)


@pytest.mark.parametrize("window", [2, 6, 8, 12], ids="window={}".format)
@pytest.mark.parametrize("rows", ROWS)
def test_a_band_equals_the_whole_mask(small_blocks, monkeypatch, rows, window):
    banded = model(window, position={"rotary": RotaryPositions})
    batch = random_rows(ROWS[rows], length=37)
    assert banded.contexts(batch)[window].band is not None
    found = computed(banded, batch)
    whole_masks(monkeypatch)
    assert banded.contexts(batch)[window].band is None
    compare(found, computed(banded, batch))


def test_a_band_one_place_narrower_is_seen(small_blocks, monkeypatch):
    batch = random_rows(ROWS["packed"], length=37)
    found = model(6)(batch)
    whole_masks(monkeypatch)
    assert (found - model(4)(batch)).abs().max() > 1e-3


def test_a_band_is_left_for_the_mask_where_it_saves_nothing(small_blocks):
    long, short = random_rows([[40]], length=40), random_rows([[15]], length=15)
    assert model().contexts(long)[6].band is not None
    assert model().contexts(long)[None].band is None  # a layer that sees all
    assert model().contexts(short)[6].band is None
    assert model(position={"alibi": AlibiPositions}).contexts(long)[6].band is None  # adds to the scores


@pytest.mark.parametrize("training", [False, True])
def test_bfloat16_and_dropout_take_the_band_too(small_blocks, monkeypatch, training):
    banded = model(attention_dropout=0.0 if not training else 0.5).train(training)
    batch = random_rows(ROWS["packed"], length=37)
    with torch.autocast("cpu", torch.bfloat16):
        found = banded(batch)
    assert found.isfinite().all()
    if not training:
        whole_masks(monkeypatch)
        assert (found.float() - banded(batch)).abs().max() < 0.2  # weights are ten times the usual here


def test_a_band_counts_fewer_operations():
    long, short = 4096, 64
    wide = encoder(num_layers=4, attention=FullAttention)
    windowed = model(window=128)
    assert windowed.flops_per_token(short) == wide.flops_per_token(short)
    saved = wide.flops_per_token(long) - windowed.flops_per_token(long)
    assert saved == 2 * 2 * 2 * (long - 3 * 64) * 32  # of two layers: layers 0 and 3 see all


MIXED = {
    "packed": ROWS["packed"],
    "full": [[37], [20, 17]],
    "padded": [[3, 5], [11], [1, 1, 2]],
    "empty": [[], [4, 4]],
}


@pytest.mark.parametrize("rows", MIXED)
def test_examples_one_by_one_equal_the_whole_mask(monkeypatch, rows):
    ours, batch = encoder(position={"rotary": RotaryPositions}), random_rows(MIXED[rows], length=37)
    assert ours.contexts(batch)[None].examples is None
    wanted = computed(ours, batch)
    monkeypatch.setattr(sparse, "EXAMPLES_LENGTH", 37)
    monkeypatch.setattr(sparse, "SHORTEST_EXAMPLES", 1)
    assert ours.contexts(batch)[None].examples is not None
    compare(computed(ours, batch), wanted)


def test_rows_of_one_example_are_not_taken_apart(monkeypatch):
    monkeypatch.setattr(sparse, "EXAMPLES_LENGTH", 8)
    monkeypatch.setattr(sparse, "SHORTEST_EXAMPLES", 15)
    assert sparse.examples_of(random_rows([[30], [12]])["sequence_ids"]) is None
    assert sparse.examples_of(random_rows([[30], [6, 6]])["sequence_ids"]).lengths == [30, 6, 6, 18]
    monkeypatch.setattr(sparse, "SHORTEST_EXAMPLES", 16)  # 60 places in 4 stretches
    assert sparse.examples_of(random_rows([[30], [6, 6]])["sequence_ids"]) is None


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@torch.no_grad()
@pytest.mark.parametrize("window", [None, 6])
@pytest.mark.parametrize("rows", ["full", "padded", "packed"])
def test_blocks_equal_the_whole_mask(rows, window):
    """FlexAttention has no backward pass on CPUs."""
    torch.manual_seed(0)
    attention, hidden = FullAttention(SHAPE, dropout=0.0), torch.randn(len(ROWS[rows]), 37, 64)
    batch = random_rows(ROWS[rows], length=37)
    mask = visibility_mask(batch["sequence_ids"], torch.float32)
    if window is not None:
        near = window_mask(batch["position_ids"], window, torch.float32)
        mask = near if mask is None else mask + near
    real = batch["attention_mask"].bool()
    blocks = sparse.blocks_of(batch["sequence_ids"], window)
    found, wanted = attention(hidden, Context(None, blocks=blocks)), attention(hidden, Context(mask))
    torch.testing.assert_close(found[real], wanted[real], rtol=0, atol=1e-6)


def test_cpus_take_no_blocks():
    rows = torch.ones(2, 2 * sparse.CUDA_LENGTH, dtype=torch.int64)
    assert sparse.cuda_blocks(rows, None, head_size=64) is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("window", [None, 128])
def test_blocks_on_cuda_equal_a_cpu_with_gradients(window):
    attention = FullAttention if window is None else partial(SlidingAttention, window=window, full_every=0)
    batch = random_rows([[300, 500, 224], [1000]], length=1024)
    real = batch["attention_mask"].bool()
    results = []
    for device in ("cpu", "cuda"):
        moved = {key: value.to(device) for key, value in batch.items()}
        ours = encoder(attention=attention, position={"rotary": RotaryPositions}, hidden_size=64).to(device)
        assert (ours.contexts(moved)[window].blocks is not None) is (device == "cuda")
        hidden = ours(moved)[real.to(device)]
        hidden.sin().sum().backward()
        results.append((hidden.detach().cpu(), [p.grad.cpu() for p in ours.parameters()]))
    (wanted, wanted_gradients), (found, found_gradients) = results
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)
    for ours, theirs in zip(found_gradients, wanted_gradients, strict=True):
        assert (ours - theirs).abs().max() <= 1e-2 * max(theirs.abs().max().item(), 1e-3)
