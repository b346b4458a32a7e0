# pyright: reportPrivateImportUsage=false
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ptcli.optimizer.groups import parameter_groups
from ptcli.optimizer.moments import corrections, quotient, update_moments, with_gradient
from ptcli.optimizer.ranges import check_betas, check_eps


class Lamb(torch.optim.Optimizer):
    """Adam whose step is as long as each tensor's own length says, for large batches (LAMB, arXiv 1904.00962).

    The update u is Adam's, weight decay added; the step is learning_rate * |w| / |u| * u, and learning_rate * u where
    one of the two is 0. As in ALBERT's code, tensors that do not decay (norms, biases) take Adam's step as it is, and
    the moments' bias is not corrected; the paper corrects it.

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: the peak; the schedule multiplies it.
        betas: decay of the first and second moment, each in [0, 1).
        eps: added to the root of the second moment.
        weight_decay: part of u, of what `decay_exempt` does not spare.
        bias_correction: true for the paper's, false for ALBERT's.
        adapt_exempt: true adapts the tensors that do not decay, too.
        decay_exempt, layer_decay: see parameter_groups.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 1.76e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        bias_correction: bool = False,
        adapt_exempt: bool = False,
        decay_exempt: str = "vectors_and_biases",
        layer_decay: float = 1.0,
    ):
        check_eps(eps)
        groups = parameter_groups(
            module,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            decay_exempt=decay_exempt,
            layer_decay=layer_decay,
        )
        for group in groups:
            group["adapts"] = adapt_exempt or not group["is_exempt"]
        super().__init__(groups, {"betas": check_betas(betas), "eps": eps, "updates": 0})
        self._bias_correction = bias_correction

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            parameters = with_gradient(group)
            if not parameters:
                continue
            group["updates"] += 1
            betas = group["betas"]
            first, second = update_moments(self.state, parameters, betas=betas)
            divisors = corrections(betas, updates=group["updates"], wanted=self._bias_correction)
            update = quotient(first, second, eps=group["eps"], divisors=divisors)
            if group["weight_decay"]:
                torch._foreach_add_(update, parameters, alpha=group["weight_decay"])
            if group["adapts"]:
                lengths = zip(torch._foreach_norm(parameters), torch._foreach_norm(update), strict=True)
                torch._foreach_mul_(
                    update, [torch.where((weight > 0) & (step > 0), weight / step, 1.0) for weight, step in lengths]
                )
            torch._foreach_add_(parameters, update, alpha=-group["lr"])
        return loss
