from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.initialization import dropout as dropout_of


class PostNorm(nn.Module):
    """norm(x + f(x)): the order of the Transformer (arXiv:1706.03762) and of BERT."""

    final_norm = False

    def __init__(self, size: int, *, norm: Callable[[int], nn.Module], dropout: float, first: bool = False):
        super().__init__()
        self.norm = norm(size)
        self.dropout = dropout_of(dropout)

    def enter(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """What the sub-layer sees."""
        return hidden

    def forward(self, hidden: Float[Tensor, "B S H"], sublayer: Callable[..., Tensor], *args) -> Float[Tensor, "B S H"]:
        """The hidden states after `sublayer(hidden, *args)` and its residual connection."""
        return self.norm(hidden + self.dropout(sublayer(hidden, *args)))
