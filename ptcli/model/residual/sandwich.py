from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.initialization import dropout as dropout_of


class SandwichNorm(nn.Module):
    """x + norm(f(norm(x))), and one more norm after the last layer: what a sub-layer adds cannot blow up ("CogView",
    arXiv:2105.13290).
    """

    final_norm = True

    def __init__(self, size: int, *, norm: Callable[[int], nn.Module], dropout: float, first: bool = False):
        super().__init__()
        self.norm = norm(size)
        self.outer_norm = norm(size)
        self.dropout = dropout_of(dropout)

    def enter(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """What the sub-layer sees."""
        return self.norm(hidden)

    def forward(self, hidden: Float[Tensor, "B S H"], sublayer: Callable[..., Tensor], *args) -> Float[Tensor, "B S H"]:
        """The hidden states after `norm(sublayer(norm(hidden), *args))` and its residual connection."""
        return hidden + self.dropout(self.outer_norm(sublayer(self.enter(hidden), *args)))
