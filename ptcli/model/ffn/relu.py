from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.shape import Shape


class ReluFeedForward(nn.Module):
    """Widen, ReLU, narrow: each position by itself (arXiv:1706.03762; ERNIE, arXiv:1904.09223)."""

    def __init__(self, shape: Shape, *, bias: bool = True):
        super().__init__()
        self.up = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=bias)
        self.activation = nn.ReLU()
        self.down = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=bias)

    def forward(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """The network's output, before the residual connection."""
        return self.down(self.activation(self.up(hidden)))

    def flops_per_token(self) -> int:
        """Floating-point operations of a forward pass for each token, 2 a multiply-add."""
        return 2 * 2 * self.up.in_features * self.up.out_features
