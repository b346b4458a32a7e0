from jaxtyping import Float
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.shape import Shape


class GeluFeedForward(nn.Module):
    """Widen, GELU (arXiv:1606.08415), narrow: each position by itself.

    `approximate`: "none" for the exact GELU (BERT), "tanh" for the approximation of GPT-2 and ALBERT ("gelu_new").
    """

    def __init__(self, shape: Shape, *, approximate: str = "none", bias: bool = True):
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ConfigError(f"model.ffn.approximate={approximate} is no form of GELU. Use none (exact) or tanh.")
        self.up = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=bias)
        self.activation = nn.GELU(approximate=approximate)
        self.down = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=bias)

    def forward(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """The network's output, before the residual connection."""
        return self.down(self.activation(self.up(hidden)))

    def flops_per_token(self) -> int:
        """Floating-point operations of a forward pass for each token, 2 a multiply-add."""
        return 2 * 2 * self.up.in_features * self.up.out_features
