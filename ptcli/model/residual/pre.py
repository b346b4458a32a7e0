from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.initialization import dropout as dropout_of


class PreNorm(nn.Module):
    """x + f(norm(x)), and one more norm after the last layer: trains at higher learning rates (arXiv:2002.04745)."""

    final_norm = True

    def __init__(self, size: int, *, norm: Callable[[int], nn.Module], dropout: float):
        super().__init__()
        self.norm = norm(size)
        self.dropout = dropout_of(dropout)

    def forward(self, hidden: Float[Tensor, "B S H"], sublayer: Callable[..., Tensor], *args) -> Float[Tensor, "B S H"]:
        """The hidden states after `sublayer(norm(hidden), *args)` and its residual connection."""
        return hidden + self.dropout(sublayer(self.norm(hidden), *args))
