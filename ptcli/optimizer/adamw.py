from collections.abc import Sequence

import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.groups import parameter_groups


class AdamW(torch.optim.AdamW):
    """Adam with decoupled weight decay in groups ("Decoupled Weight Decay Regularization", arXiv 1711.05101).

    BERT's own Adam differs in having no bias correction. One fused kernel is used on CPU and CUDA.

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: the peak; the schedule multiplies it.
        betas: decay of the first and second moment, each in [0, 1).
        eps: added to the root of the second moment.
        weight_decay: for matrices and embeddings only; multiplied by the learning rate.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 5e-4,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ):
        if not 0 < learning_rate < float("inf"):
            raise ConfigError(f"optimizer.learning_rate={learning_rate}: it must be above 0, such as 1e-4.")
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ConfigError(f"optimizer.betas={list(betas)}: two numbers in [0, 1), such as [0.9,0.999].")
        if not 0 < eps < 1:
            raise ConfigError(f"optimizer.eps={eps}: a small number above 0, such as 1e-6.")
        if not 0 <= weight_decay < float("inf"):
            raise ConfigError(f"optimizer.weight_decay={weight_decay}: it must be 0 or more, such as 0.01.")
        groups = parameter_groups(module, weight_decay=weight_decay)
        fused = all(p.device.type in ("cpu", "cuda") for group in groups for p in group["params"])
        super().__init__(groups, lr=learning_rate, betas=(betas[0], betas[1]), eps=eps, fused=fused)
