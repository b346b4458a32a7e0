from torch import nn

from ptcli.model.gated import GatedFeedForward
from ptcli.model.shape import Shape


class GegluFeedForward(GatedFeedForward):
    """A gated network with the exact GELU (arXiv:2002.05202; ModernBERT, arXiv:2412.13663)."""

    def __init__(self, shape: Shape, *, bias: bool = True, output_bias: bool | None = None):
        activation = nn.GELU()
        super().__init__(
            shape, activation=activation, bias=bias, output_bias=bias if output_bias is None else output_bias
        )
