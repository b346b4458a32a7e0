"""One layer: attention, then a feed-forward network, each inside its residual connection."""

from functools import partial

from jaxtyping import Float
from torch import Tensor, nn

from ptcli.model.context import Context


class Block(nn.Module):
    """A Transformer layer (arXiv:1706.03762). Layers that share a part hold the same module."""

    def __init__(self, *, attention: nn.Module, attention_residual: nn.Module, ffn: nn.Module, ffn_residual: nn.Module):
        super().__init__()
        self.attention = attention
        self.attention_residual = attention_residual
        self.ffn = ffn
        self.ffn_residual = ffn_residual

    def forward(
        self, hidden: Float[Tensor, "B S H"], context: Context, queries: Float[Tensor, "B S H"] | None = None
    ) -> Float[Tensor, "B S H"]:
        """The hidden states after this layer. `queries`: who looks at `hidden` and moves on, if not `hidden` itself."""
        if queries is None:
            hidden = self.attention_residual(hidden, self.attention, context)
        else:
            seen = self.attention_residual.enter(hidden)  # type: ignore[operator]
            hidden = self.attention_residual(queries, partial(self.attention, seen, context))
        return self.ffn_residual(hidden, self.ffn)

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length` tokens, 2 a multiply-add."""
        return self.attention.flops_per_token(length) + self.ffn.flops_per_token()  # type: ignore[operator]
