from functools import partial

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.attention.full import FullAttention
from ptcli.model.attention.sliding import SlidingAttention
from ptcli.model.position.rotary import RotaryPositions
from ptcli.model.shape import Shape
from ptcli.model.sharing.groups import GroupSharing

from ..build import encoder, random_rows

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=32, num_heads=4, intermediate_size=8, embedding_size=32)


def seen_by(model, *, length=20) -> torch.Tensor:
    """Which tokens (columns) change which positions (rows)."""
    batch = random_rows([[length]])
    before = model(batch)[0]
    seen = []
    for at in range(length):
        ids = batch["input_ids"].clone()
        ids[0, at] = ids[0, at] % 60 + 1
        seen.append((model(batch | {"input_ids": ids})[0] - before).abs().amax(-1) > 0)
    return torch.stack(seen, 1)


def neighbours(length: int, reach: int) -> torch.Tensor:
    places = torch.arange(length)
    return (places[:, None] - places[None, :]).abs() <= reach


@pytest.mark.parametrize("packed", [False, True])
def test_a_layer_sees_half_the_window_on_each_side(packed):
    attention = partial(SlidingAttention, window=6, full_every=0)
    model = encoder(num_layers=1, attention=attention, position=None)
    if packed:
        batch = random_rows([[9, 11]])
        other = batch | {"input_ids": batch["input_ids"].clone()}
        other["input_ids"][0, 10] = batch["input_ids"][0, 10] % 60 + 1  # place 1 of the second example
        changed = (model(other) - model(batch)).abs().amax(-1)[0] > 0
        assert changed.nonzero().flatten().tolist() == [9, 10, 11, 12, 13]
    else:
        assert torch.equal(seen_by(model), neighbours(20, 3))


def test_layers_alternate_in_the_order_in_which_they_run():
    attention = partial(SlidingAttention, window=4, full_every=3)
    assert encoder(num_layers=5, attention=attention).windows == (None, 4, 4, None, 4)
    shared = encoder(num_layers=5, attention=attention, sharing=GroupSharing())
    assert len(shared.blocks) == 1
    assert shared.windows == (None, 4, 4, None, 4)
    stacked = encoder(num_layers=3, attention=partial(SlidingAttention, window=4, full_every=0), position=None)
    assert torch.equal(seen_by(stacked), neighbours(20, 6))  # windows add up


def test_a_window_as_wide_as_the_row_is_full_attention():
    batch = random_rows([[9, 8], [13]])
    sliding = encoder(attention=partial(SlidingAttention, window=40, full_every=0))
    torch.testing.assert_close(sliding(batch), encoder(attention=FullAttention)(batch))


def test_rotary_has_a_base_of_its_own_for_windows():
    attention = partial(SlidingAttention, window=40, full_every=2)
    mixed = encoder(attention=attention, position={"rotary": partial(RotaryPositions, base=50.0, local_base=900.0)})
    batch = random_rows([[15]])
    contexts = mixed.contexts(batch)
    heads = torch.randn(1, 15, 2, 4, 8)
    for window, base in ((None, 50.0), (40, 900.0)):
        wanted = RotaryPositions(mixed.shape, base=base)(batch["position_ids"])(heads)
        assert torch.equal(contexts[window].rotations[0](heads), wanted)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"window": 7}, "window=7 must be even.*Use 6"),
        ({"window": 0}, "window=0"),
        ({"full_every": 1}, "use model/attention=full"),
        ({"full_every": -1}, "full_every=-1"),
    ],
)
def test_refusals(changes, words):
    with pytest.raises(ConfigError, match=words):
        SlidingAttention(SHAPE, dropout=0.0, **changes)
