from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.model.context import Context
from ptcli.model.shape import Shape
from ptcli.model.sparse import attend_blocks


class FullAttention(nn.Module):
    """Every position attends to every position that it may see, in several heads ("Attention Is All You Need",
    arXiv:1706.03762), scores divided by the square root of the head size.

    Queries, keys and values come from one product: rows [0, H) of `qkv` are the queries', then the keys', the values'.
    `relations`: what positions that enter as "score" or "value" own in this layer, by name. `key_bias`: where there are
    biases, whether keys have one (DeBERTa: no).
    """

    accepts = frozenset({"query_key", "bias", "score", "value"})
    causal = False
    isolates = True
    sparse = True

    def __init__(
        self,
        shape: Shape,
        *,
        dropout: float,
        relations: Mapping[str, nn.Module] | None = None,
        bias: bool = True,
        key_bias: bool = True,
    ):
        super().__init__()
        self.num_heads, self.head_size = shape.num_heads, shape.head_size
        self.qkv = nn.Linear(shape.hidden_size, 3 * shape.hidden_size, bias=bias and key_bias)
        self.query_value_bias = None if key_bias or not bias else nn.Parameter(torch.zeros(2, shape.hidden_size))
        self.output = nn.Linear(shape.hidden_size, shape.hidden_size, bias=bias)
        self.dropout = dropout
        self.relations = nn.ModuleDict(relations or {})
        parts = list(self.relations.values())
        self.scale = (self.head_size * (1 + sum(part.extra_scores for part in parts))) ** -0.5  # type: ignore[misc]
        self.content = all(part.content for part in parts)
        self.into_values = tuple(name for name, part in self.relations.items() if part.changes_values)

    def window(self, layer: int) -> int | None:
        """How many places the layer that runs at this place of the stack sees around each; None: all."""
        return None

    def forward(
        self, hidden: Float[Tensor, "B S H"], context: Context, queries: Float[Tensor, "B S H"] | None = None
    ) -> Float[Tensor, "B S H"]:
        """The attention's output, before the residual connection. `queries`: who looks, if not `hidden`."""
        query, key, value = self._heads(hidden, context, queries)  # (B, h, S, d_h) each
        if context.blocks is not None:
            attended = attend_blocks(query, key, value, context.blocks, scale=self.scale)
        elif context.band is not None:
            band = context.band
            attended = band.unfold(self._attend(*band.fold(query, key, value), band.mask, context))
        elif context.examples is not None:
            pieces = context.examples.apart(query, key, value)
            pieces = [self._attend(*piece, None, context) if real else piece[2] for real, piece in pieces]
            attended = context.examples.together(pieces, len(query))
        else:
            attended = self._attend(query, key, value, context.mask, context)
        return self.output(attended.transpose(1, 2).flatten(2))

    def flops_per_token(self, length: int) -> int:
        """Floating-point operations of a forward pass for each token that looks at `length` others, 2 a multiply-add.

        What is done once for all rows is not counted: see `flops_per_batch`.
        """
        hidden_size = self.num_heads * self.head_size
        relations = sum(relation.flops_per_token(length) for relation in self.relations.values())  # type: ignore
        return 2 * (4 * hidden_size**2 + (1 + self.content) * length * hidden_size) + self.num_heads * relations

    def flops_per_batch(self, length: int) -> int:
        """Floating-point operations of a forward pass over rows of `length`, however many: tables of distances."""
        return sum(relation.flops_per_batch(length) for relation in self.relations.values())  # type: ignore

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None, context: Context
    ) -> Float[Tensor, "B h S d"]:
        for name, relation in self.relations.items():
            scores = relation(query * self.scale, key, context.relations[name], scale=self.scale, project=self._project)
            added = scores if added is None else added + scores
        if added is not None:
            added = added.to(query.dtype)
        dropout = self.dropout if self.training else 0.0
        if self.into_values or not self.content or _products_are_faster(query, dropout):
            return self._by_products(query, key, value, added, context, dropout)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=added, dropout_p=dropout, scale=self.scale)

    def _project(self, hidden: Float[Tensor, "... H"]) -> Float[Tensor, "... W"]:
        """Queries, keys and values one behind the other."""
        return self.qkv(hidden) if self.query_value_bias is None else F.linear(hidden, self.qkv.weight, self._bias())

    def _bias(self) -> Tensor | None:
        if self.query_value_bias is None:
            return self.qkv.bias
        query, value = self.query_value_bias
        return torch.cat((query, torch.zeros_like(query), value))

    def _heads(self, hidden: Tensor, context: Context, queries: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        if queries is None:
            qkv = self._project(hidden)
        else:  # queries of the ones, keys and values of the others
            widths, bias = (hidden.shape[-1], 2 * hidden.shape[-1]), self._bias()
            weights, biases = self.qkv.weight.split(widths), (None, None) if bias is None else bias.split(widths)
            qkv = torch.cat([F.linear(*part) for part in zip((queries, hidden), weights, biases, strict=True)], -1)
        qkv = qkv.unflatten(-1, (3, self.num_heads, self.head_size))  # (B, S, 3, h, d_h)
        if context.rotations:
            query_key, value = qkv.split((2, 1), dim=2)  # not slices: their gradients would each fill a whole tensor
            for rotate in context.rotations:
                query_key = rotate(query_key)
            query, key, value = *query_key.unbind(2), value.squeeze(2)
        else:
            query, key, value = qkv.unbind(2)
        return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)

    def _by_products(
        self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None, context: Context, dropout: float
    ) -> Float[Tensor, "B h S d"]:
        """The plain way, on which the probabilities exist."""
        if self.content:
            scores = (query * self.scale) @ key.transpose(2, 3)  # (B, h, S, S)
            scores = scores if added is None else scores + added
        else:
            assert added is not None
            scores = added
        probabilities = scores.softmax(-1)
        if dropout:
            probabilities = F.dropout(probabilities, dropout)
        attended = probabilities @ value
        for name in self.into_values:
            relation: nn.Module = self.relations[name]
            attended = attended + relation.values(probabilities, context.relations[name])  # type: ignore[operator]
        return attended


def _products_are_faster(query: Tensor, dropout: float) -> bool:
    # The CPU kernel behind scaled_dot_product_attention (torch 2.13) takes two to four times as long as plain products
    # for a bfloat16 backward pass up to about a thousand positions, and falls back to slower products under dropout.
    return (
        query.device.type == "cpu"
        and torch.is_grad_enabled()
        and query.shape[2] <= 1024
        and (query.dtype is torch.bfloat16 or dropout > 0)
    )
