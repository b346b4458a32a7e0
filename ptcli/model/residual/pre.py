from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.initialization import dropout as dropout_of


class PreNorm(nn.Module):
    """x + f(norm(x)), and one more norm after the last layer: trains at higher learning rates (arXiv:2002.04745).

    `first`: this is the first thing after the embeddings, in no other layer. `skip_first`: no norm there, because the
    embeddings are normed already (ModernBERT, arXiv:2412.13663).
    """

    final_norm = True

    def __init__(
        self,
        size: int,
        *,
        norm: Callable[[int], nn.Module],
        dropout: float,
        first: bool = False,
        skip_first: bool = False,
    ):
        super().__init__()
        self.norm = nn.Identity() if first and skip_first else norm(size)
        self.dropout = dropout_of(dropout)

    def enter(self, hidden: Float[Tensor, "B S H"]) -> Float[Tensor, "B S H"]:
        """What the sub-layer sees."""
        return self.norm(hidden)

    def forward(self, hidden: Float[Tensor, "B S H"], sublayer: Callable[..., Tensor], *args) -> Float[Tensor, "B S H"]:
        """The hidden states after `sublayer(norm(hidden), *args)` and its residual connection."""
        return hidden + self.dropout(sublayer(self.enter(hidden), *args))
