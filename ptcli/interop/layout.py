"""How one of our tensors is laid out in the tensors of another file. No torch until one is converted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Layout(Protocol):
    """Two ways between a tensor of ours and `count` of theirs."""

    def to_theirs(self, tensor: "Tensor", count: int) -> "Sequence[Tensor]":
        """Their tensors, in the order of their names."""
        ...

    def to_ours(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Our tensor, from theirs."""
        ...


class Chunks:
    """Theirs are equal parts of ours, one behind the other along the first axis."""

    def to_theirs(self, tensor: "Tensor", count: int) -> "Sequence[Tensor]":
        """Their tensors, in the order of their names."""
        return tensor.chunk(count)

    def to_ours(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Our tensor, from theirs."""
        import torch

        return torch.cat(list(parts))


class Rows:
    """Theirs are the rows of ours."""

    def to_theirs(self, tensor: "Tensor", count: int) -> "Sequence[Tensor]":
        """Their tensors, in the order of their names."""
        return tensor.unbind()

    def to_ours(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Our tensor, from theirs."""
        import torch

        return torch.stack(list(parts))


@dataclass(frozen=True)
class HeadByHead:
    """Theirs is one tensor: each head's queries, keys and values. Ours holds those of all heads one after another."""

    num_heads: int

    def to_theirs(self, tensor: "Tensor", count: int) -> "Sequence[Tensor]":
        """Their tensors, in the order of their names."""
        return [tensor.unflatten(0, (3, self.num_heads, -1)).transpose(0, 1).flatten(0, 2)]

    def to_ours(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Our tensor, from theirs."""
        return parts[0].unflatten(0, (self.num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)


@dataclass(frozen=True)
class TurnedPairs:
    """Theirs are queries, keys and values; rotary places turn neighbouring features there, features of halves here."""

    num_heads: int

    def to_theirs(self, tensor: "Tensor", count: int) -> "Sequence[Tensor]":
        """Their tensors, in the order of their names."""
        query, key, value = tensor.chunk(count)
        return [
            *(part.unflatten(0, (self.num_heads, 2, -1)).transpose(1, 2).flatten(0, 2) for part in (query, key)),
            value,
        ]

    def to_ours(self, parts: "Sequence[Tensor]") -> "Tensor":
        """Our tensor, from theirs."""
        import torch

        query, key, value = parts
        turned = [part.unflatten(0, (self.num_heads, -1, 2)).transpose(1, 2).flatten(0, 2) for part in (query, key)]
        return torch.cat([*turned, value])
