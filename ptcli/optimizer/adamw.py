from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ptcli.optimizer.groups import Group, parameter_groups
from ptcli.optimizer.moments import corrections
from ptcli.optimizer.ranges import check_betas, check_eps


class AdamW(torch.optim.AdamW):
    """Adam with decoupled weight decay in groups ("Decoupled Weight Decay Regularization", arXiv 1711.05101).

    One fused kernel is used on CPU and CUDA, with and without the correction of the moments' bias.

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: the peak; the schedule multiplies it.
        betas: decay of the first and second moment, each in [0, 1).
        eps: added to the root of the second moment.
        weight_decay: of what `decay_exempt` does not spare; multiplied by the learning rate.
        bias_correction: false for the Adam of BERT, ELECTRA and SpanBERT, whose first steps are larger.
        decay_exempt, layer_decay: see parameter_groups.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 5e-4,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
        bias_correction: bool = True,
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
        super().__init__(groups, lr=learning_rate, betas=check_betas(betas), eps=eps, fused=can_be_fused(groups))
        self._bias_correction = bias_correction
        if not bias_correction:
            self._step_supports_amp_scaling = False  # a scaler leaves whole steps out: the count stays right
            for group in self.param_groups:
                group["updates"] = 0

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        if self._bias_correction:
            return super().step(closure)
        asked = [{key: group[key] for key in ("lr", "eps", "weight_decay")} for group in self.param_groups]
        for group in self.param_groups:
            group["updates"] += 1
            first, second = corrections(group["betas"], updates=group["updates"])
            factor = first / second**0.5
            group["lr"] *= factor
            group["weight_decay"] /= factor
            group["eps"] /= second**0.5
        try:
            return super().step(closure)
        finally:
            for group, values in zip(self.param_groups, asked, strict=True):
                group.update(values)


def can_be_fused(groups: list[Group]) -> bool:
    """Whether all parameters lie where there is a fused kernel."""
    return all(p.device.type in ("cpu", "cuda") for group in groups for p in group["params"])
