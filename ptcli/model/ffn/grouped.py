import torch
from jaxtyping import Float
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.shape import Shape


class GroupedFeedForward(nn.Module):
    """Both dense layers fall into groups of features that do not mix, for as many times less weights ("ConvBERT",
    arXiv:2008.02496): hidden group g feeds inner group g, and that group g of the output. GELU between.
    """

    def __init__(self, shape: Shape, *, groups: int = 2, bias: bool = True):
        super().__init__()
        for name, width in (("hidden_size", shape.hidden_size), ("intermediate_size", shape.intermediate_size)):
            if groups < 1 or width % groups:
                choices = ", ".join(str(n) for n in range(1, 17) if width % n == 0)
                raise ConfigError(
                    f"model.ffn.groups={groups} does not divide model.{name}={width}, and groups are of one size. "
                    f"Use one of {choices}."
                )
        inner, outer = shape.intermediate_size // groups, shape.hidden_size // groups
        self.up = nn.ModuleList(nn.Linear(outer, inner, bias=bias) for _ in range(groups))
        self.activation = nn.GELU()
        self.down = nn.ModuleList(nn.Linear(inner, outer, bias=bias) for _ in range(groups))
        self.flops = 2 * 2 * groups * inner * outer

    def forward(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """The network's output, before the residual connection."""
        groups = zip(hidden.chunk(len(self.up), -1), self.up, self.down, strict=True)
        return torch.cat([down(self.activation(up(part))) for part, up, down in groups], -1)

    def flops_per_token(self) -> int:
        """Floating-point operations of a forward pass for each token, 2 a multiply-add."""
        return self.flops
