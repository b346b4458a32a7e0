import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.model.context import Context
from ptcli.model.shape import Shape


class FullAttention(nn.Module):
    """Every position attends to every position that it may see, in several heads ("Attention Is All You Need",
    arXiv:1706.03762), scores divided by the square root of the head size.

    Queries, keys and values come from one product: rows [0, H) of `qkv` are the queries', then the keys', the values'.
    """

    accepts = frozenset({"query_key", "bias"})
    causal = False
    isolates = True

    def __init__(self, shape: Shape, *, dropout: float, bias: bool = True):
        super().__init__()
        self.num_heads, self.head_size = shape.num_heads, shape.head_size
        self.qkv = nn.Linear(shape.hidden_size, 3 * shape.hidden_size, bias=bias)
        self.output = nn.Linear(shape.hidden_size, shape.hidden_size, bias=bias)
        self.dropout = dropout

    def forward(self, hidden: Float[Tensor, "B S H"], context: Context) -> Float[Tensor, "B S H"]:
        """What each position gathers, before the residual connection."""
        qkv = self.qkv(hidden).unflatten(-1, (3, self.num_heads, self.head_size))  # (B, S, 3, h, d_h)
        if context.rotations:
            query_key, value = qkv.split((2, 1), dim=2)  # not slices: their gradients would each fill a whole tensor
            for rotate in context.rotations:
                query_key = rotate(query_key)
            query, key, value = *query_key.unbind(2), value.squeeze(2)
        else:
            query, key, value = qkv.unbind(2)
        query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)  # (B, h, S, d_h)
        dropout = self.dropout if self.training else 0.0
        if _products_are_faster(query, dropout):
            scores = (query * self.head_size**-0.5) @ key.transpose(2, 3)  # (B, h, S, S)
            if context.mask is not None:
                scores = scores + context.mask
            probabilities = scores.softmax(-1)
            gathered = (F.dropout(probabilities, dropout) if dropout else probabilities) @ value
        else:
            gathered = F.scaled_dot_product_attention(query, key, value, attn_mask=context.mask, dropout_p=dropout)
        return self.output(gathered.transpose(1, 2).flatten(2))

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length`, 2 a multiply-add."""
        hidden_size = self.num_heads * self.head_size
        return 2 * (4 * hidden_size**2 + 2 * length * hidden_size)


def _products_are_faster(query: Tensor, dropout: float) -> bool:
    # The CPU kernel behind scaled_dot_product_attention (torch 2.13) takes two to four times as long as plain products
    # for a bfloat16 backward pass up to about a thousand positions, and falls back to slower products under dropout.
    return (
        query.device.type == "cpu"
        and torch.is_grad_enabled()
        and query.shape[2] <= 1024
        and (query.dtype is torch.bfloat16 or dropout > 0)
    )
