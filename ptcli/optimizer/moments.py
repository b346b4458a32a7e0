# pyright: reportPrivateImportUsage=false
"""Adam's moments over lists of tensors, for the optimizers that divide one by the root of the other."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def with_gradient(group: Mapping) -> list[Tensor]:
    """The parameters of a group that have a gradient."""
    return [parameter for parameter in group["params"] if parameter.grad is not None]


def gradients_of(parameters: Sequence[Tensor]) -> list[Tensor]:
    """Their gradients."""
    return [parameter.grad for parameter in parameters]  # type: ignore[misc]


def update_moments(
    state: Mapping[Tensor, dict], parameters: Sequence[Tensor], *, betas: tuple[float, float]
) -> tuple[list[Tensor], list[Tensor]]:
    """The running means of the gradient and of its square with this gradient in them, kept in `state`."""
    for parameter in parameters:
        entries = state[parameter]
        if not entries:
            entries["exp_avg"] = torch.zeros_like(parameter)
            entries["exp_avg_sq"] = torch.zeros_like(parameter)
    gradients = gradients_of(parameters)
    first = [state[parameter]["exp_avg"] for parameter in parameters]
    second = [state[parameter]["exp_avg_sq"] for parameter in parameters]
    torch._foreach_lerp_(first, gradients, 1 - betas[0])
    torch._foreach_mul_(second, betas[1])
    torch._foreach_addcmul_(second, gradients, gradients, 1 - betas[1])
    return first, second


def corrections(betas: tuple[float, float], *, updates: int, wanted: bool = True) -> tuple[float, float]:
    """What the moments are divided by after so many updates, because they began at 0; (1, 1) where not `wanted`."""
    return (1 - betas[0] ** updates, 1 - betas[1] ** updates) if wanted else (1.0, 1.0)


def quotient(first: list[Tensor], second: list[Tensor], *, eps: float, divisors: tuple[float, float]) -> list[Tensor]:
    """(first / divisor) / (sqrt(second / divisor) + eps), in new tensors."""
    roots = list(torch._foreach_sqrt(second))
    torch._foreach_div_(roots, divisors[1] ** 0.5)
    torch._foreach_add_(roots, eps)
    found = list(torch._foreach_div(first, roots))
    torch._foreach_div_(found, divisors[0])
    return found
