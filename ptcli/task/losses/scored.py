"""What a loss says of one micro-batch."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Scored:
    """`losses`: of each target, with gradient; 0 where it is not scored. `is_scored`: which are.

    `hits`: whether the best guess was right; None where there is nothing that is right or wrong.
    """

    losses: Float[Tensor, " K"]
    is_scored: Bool[Tensor, " K"]
    hits: Bool[Tensor, " K"] | None = None


def symmetric_divergence(one: Float[Tensor, "..."], other: Float[Tensor, "..."]) -> Float[Tensor, ""]:
    """KL(p, q) + KL(q, p), summed, of log-probabilities; places where both are 0 add nothing."""
    difference = (one - other).masked_fill(torch.isneginf(one) & torch.isneginf(other), 0.0)
    return ((one.exp() - other.exp()) * difference).sum()
