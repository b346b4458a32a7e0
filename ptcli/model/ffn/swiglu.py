from torch import nn

from ptcli.model.gated import GatedFeedForward
from ptcli.model.shape import Shape


class SwigluFeedForward(GatedFeedForward):
    """A gated network with SiLU, x times its logistic function (arXiv:2002.05202; NeoBERT, arXiv:2502.19587)."""

    def __init__(self, shape: Shape, *, bias: bool = True, output_bias: bool | None = None):
        activation = nn.SiLU()
        super().__init__(
            shape, activation=activation, bias=bias, output_bias=bias if output_bias is None else output_bias
        )
