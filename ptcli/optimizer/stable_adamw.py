# pyright: reportPrivateImportUsage=false
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ptcli.optimizer.groups import parameter_groups
from ptcli.optimizer.moments import corrections, gradients_of, quotient, update_moments, with_gradient
from ptcli.optimizer.ranges import check_betas, check_eps


class StableAdamW(torch.optim.Optimizer):
    """AdamW that steps less where the second moment lags behind the gradient (StableAdamW, arXiv 2304.13013).

    Each tensor's learning rate is divided by max(1, r), where r is the root of the mean of g^2 / max(v, eps^2): a spike
    of the gradient g, of which the corrected second moment v knows nothing yet, moves nothing far. ModernBERT trains
    with it, and without clipping by norm (trainer.clip=null).

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: the peak; the schedule multiplies it.
        betas: decay of the first and second moment, each in [0, 1).
        eps: added to the root of the second moment.
        weight_decay: of what `decay_exempt` does not spare; multiplied by the learning rate as it was divided.
        decay_exempt, layer_decay: see parameter_groups.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 5e-4,
        betas: Sequence[float] = (0.9, 0.98),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
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
        super().__init__(groups, {"betas": check_betas(betas), "eps": eps, "updates": 0})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            parameters = with_gradient(group)
            if not parameters:
                continue
            group["updates"] += 1
            first, second = update_moments(self.state, parameters, betas=group["betas"])
            divisors = corrections(group["betas"], updates=group["updates"])
            update = quotient(first, second, eps=group["eps"], divisors=divisors)

            roots = list(torch._foreach_div(second, divisors[1]))
            torch._foreach_sqrt_(roots)
            torch._foreach_clamp_min_(roots, group["eps"])
            surprises = torch._foreach_norm(torch._foreach_div(gradients_of(parameters), roots))
            rates = [
                group["lr"] / (length / parameter.numel() ** 0.5).clamp(min=1.0)
                for length, parameter in zip(surprises, parameters, strict=True)
            ]
            if group["weight_decay"]:
                torch._foreach_mul_(parameters, [1 - rate * group["weight_decay"] for rate in rates])
            torch._foreach_mul_(update, rates)
            torch._foreach_sub_(parameters, update)
        return loss
