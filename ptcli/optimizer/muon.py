from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.adamw import can_be_fused
from ptcli.optimizer.groups import layers_of, parameter_groups
from ptcli.optimizer.ranges import check_betas, check_eps, check_learning_rate

ADJUST = ("original", "match_rms_adamw")


class Muon(torch.optim.Optimizer):
    """Orthogonalised momentum for the layers' matrices, AdamW for all else (Jordan et al. 2024; arXiv 2502.16982).

    Matrices are the two-dimensional weights inside layers, tables of embeddings aside; a projection of queries, keys
    and values in one is one matrix. torch does both kinds of step; this class is one optimizer around them, whose
    groups say by `use_muon` which takes them.

    Args:
        module: a TrainingStep, already on its device; given by the command.
        learning_rate: the peak for matrices; the schedule multiplies it.
        momentum: decay of the running mean of the gradient, in [0, 1).
        nesterov: whether the gradient is looked at once more, on top of the mean.
        adjust: original (the step of an a x b matrix times sqrt(max(1, a / b))), or match_rms_adamw (times
            0.2 sqrt(max(a, b)), so that a learning rate of AdamW suits).
        newton_schulz_steps: of the iteration that makes the momentum nearly orthogonal, 1 to 99.
        weight_decay: of what `decay_exempt` does not spare; multiplied by the learning rate.
        adamw_learning_rate, betas, eps: AdamW's, for all else.
        decay_exempt, layer_decay: see parameter_groups.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 0.02,
        momentum: float = 0.95,
        nesterov: bool = True,
        adjust: str = "original",
        newton_schulz_steps: int = 5,
        weight_decay: float = 0.01,
        adamw_learning_rate: float = 3e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-6,
        decay_exempt: str = "vectors_and_biases",
        layer_decay: float = 1.0,
    ):
        check_learning_rate(adamw_learning_rate, key="adamw_learning_rate")
        check_eps(eps)
        if not 0 <= momentum < 1:
            raise ConfigError(f"optimizer.momentum={momentum}: in [0, 1), such as 0.95.")
        if adjust not in ADJUST:
            raise ConfigError(f"optimizer.adjust={adjust}: one of {', '.join(ADJUST)}.")
        if not 1 <= newton_schulz_steps < 100:
            raise ConfigError(f"optimizer.newton_schulz_steps={newton_schulz_steps}: 1 to 99, such as 5.")
        matrices = matrices_of(module)
        rules: dict[str, Any] = {
            "weight_decay": weight_decay,
            "decay_exempt": decay_exempt,
            "layer_decay": layer_decay,
        }
        with_muon = parameter_groups(module, learning_rate=learning_rate, only=matrices, **rules)
        others = [p for p in module.parameters() if p not in set(matrices)]
        with_adamw = parameter_groups(module, learning_rate=adamw_learning_rate, only=others, **rules)
        if not with_muon or not with_adamw:
            raise ConfigError(
                "optimizer=muon trains matrices of layers by Muon and all else by AdamW, but this model has none "
                "of the one or of the other. Use optimizer=adamw."
            )
        for group in with_muon:
            group["name"] = f"matrices by Muon, {group['name']}"
        for group in with_adamw:
            group["name"] = f"others by AdamW, {group['name']}"
        self._muon = torch.optim.Muon(
            with_muon, momentum=momentum, nesterov=nesterov, ns_steps=newton_schulz_steps, adjust_lr_fn=adjust
        )
        self._adamw = torch.optim.AdamW(with_adamw, betas=check_betas(betas), eps=eps, fused=can_be_fused(with_adamw))
        super().__init__(
            [group | {"use_muon": True} for group in self._muon.param_groups]
            + [group | {"use_muon": False} for group in self._adamw.param_groups],
            {},
        )

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of both kinds."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for inner, use_muon in ((self._muon, True), (self._adamw, False)):
            inner.param_groups = [group for group in self.param_groups if group["use_muon"] is use_muon]
            inner.state = self.state
            inner.step()
        return loss


def matrices_of(module: nn.Module) -> list[nn.Parameter]:
    """The two-dimensional trainable weights of a TrainingStep's layers, tables of embeddings and biases aside."""
    found: dict[nn.Parameter, None] = {}
    for layer in layers_of(module):
        for part in layer.modules():
            if isinstance(part, nn.Embedding):
                continue
            for name, parameter in part.named_parameters(recurse=False):
                if parameter.requires_grad and parameter.ndim == 2 and not name.endswith("bias"):
                    found[parameter] = None
    return list(found)
