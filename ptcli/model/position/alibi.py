import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.model.distances import places_apart
from ptcli.model.shape import Shape


class AlibiPositions(nn.Module):
    """Scores fall with the distance, in each head at a slope of its own ("Train Short, Test Long", arXiv:2108.12409).

    Distances count the same in both directions, as in MosaicBERT (arXiv:2312.17482); the paper's model looks back only.
    Nothing is learned.
    """

    enters = "bias"
    extrapolates = True

    def __init__(self, shape: Shape):
        super().__init__()
        self.slopes = slopes(shape.num_heads)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B h S S"]:
        """What is added to the attention scores: minus slope times distance, float32."""
        falls = torch.tensor(self.slopes, device=position_ids.device).view(-1, 1, 1)
        return places_apart(position_ids)[:, None].abs() * -falls


def slopes(num_heads: int) -> list[float]:
    """2^(-8i/h) for i from 1 to h, where the number of heads h is a power of two.

    Other numbers take the slopes of the next smaller power, then every second one of the next larger.
    """
    power = 1 << (num_heads.bit_length() - 1)
    first = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2 ** (-4 * i / power) for i in range(1, 2 * power + 1, 2)]
    return [*first, *between[: num_heads - power]]
