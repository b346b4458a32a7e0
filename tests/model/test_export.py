"""torch.export keeps batch and length free, and what it makes computes the same, whatever the positions."""

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from ptcli.model.attention.full import FullAttention
from ptcli.model.attention.sliding import SlidingAttention
from ptcli.model.position.disentangled import DisentangledPositions
from ptcli.model.position.shaw import ShawPositions
from ptcli.model.position.t5 import T5Positions

from .build import encoder, random_rows
from .test_encoder import POSITIONS

KEYS = ("input_ids", "token_type_ids", "position_ids", "sequence_ids")


class Positional(nn.Module):
    """An encoder whose batch is four arguments."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, *tensors: Tensor) -> Tensor:
        return self.model(dict(zip(KEYS, tensors, strict=True)))


def exports(model: nn.Module) -> None:
    whole, batch = Positional(model.eval()), random_rows([[9, 4], [11]])
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with torch.no_grad():
        tensors = tuple(batch[key] for key in KEYS)
        program = torch.export.export(whole, tensors, dynamic_shapes={"tensors": (free,) * 4}, strict=False)
        other = random_rows([[30], [3, 4], [17]], seed=3)
        tensors = tuple(other[key] for key in KEYS)
        real = other["sequence_ids"] > 0
        torch.testing.assert_close(program.module()(*tensors)[real], whole(*tensors)[real], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("attention", [FullAttention, partial(SlidingAttention, window=4, full_every=2)])
def test_several_positions_at_once(attention):
    # 13 places are exported and 30 run: the table of distances is longer than the one and shorter than the other
    far = partial(DisentangledPositions, max_distance=16, dropout=0.0)
    exports(encoder(attention=attention, position={"disentangled": far, "shaw": ShawPositions, "t5": T5Positions}))


@pytest.mark.slow
@pytest.mark.parametrize("position", POSITIONS)
def test_every_position(position):
    exports(encoder(position=POSITIONS[position]))
