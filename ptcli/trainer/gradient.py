from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from ptcli.errors import ConfigError
from ptcli.trainer.parallel import Sharded, Single
from ptcli.trainer.precision import LossScale
from ptcli.trainer.seeds import seed_micro_batch
from ptcli.trainer.sharded import whole


class Gradient:
    """The gradient of an optimiser step: summed over its micro-batches and all ranks, and clipped.

    Args:
        strategy: how the step is spread over ranks.
        compile: whether torch.compile is used on it.
        device: that micro-batches are moved to.
        autocast: the context of forward passes.
        clip: longest 2-norm; None: never scaled down.
        seed: of dropout.
        scale: multiplies the loss before the backward pass, and divides the gradient; None: nothing does.
    """

    def __init__(
        self,
        strategy: Single,
        *,
        compile: bool,
        device: torch.device,
        autocast: Callable[[], AbstractContextManager],
        clip: float | None,
        seed: int,
        scale: LossScale | None = None,
    ):
        self.strategy, self.device = strategy, device
        self.forward = strategy.forward_of(compile=compile)
        self.parameters = [p for p in strategy.trained.parameters() if p.requires_grad]
        self.autocast, self.clip, self.seed, self.scale = autocast, clip, seed, scale
        self.second_pass = getattr(strategy.trained, "second_pass", None)
        if self.second_pass is not None and isinstance(strategy, Sharded):
            raise ConfigError(
                "task/adversarial=fgm moves weights along their gradient, of which trainer.strategy=fsdp keeps parts "
                "alone. Use trainer.strategy=ddp, or another task/adversarial."
            )

    def __call__(
        self, data: Any, *, number: int, add_loss: Callable[[Any], None], most: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Leave the gradient of one step's `data` in the parameters; `add_loss` is given the loss of each micro-batch.

        `number`: optimiser steps done before. `most`: micro-batches of the rank that has most; None: this one.
        Returns (the gradient's norm before clipping, this rank's share of the step's loss).
        """
        self.strategy.trained.train()
        for parameter in self.parameters:
            parameter.grad = None
        step_total = torch.zeros((), device=self.device)
        micro_batches = self.strategy.micro_batches(data.micro_batches, most=most or len(data.micro_batches))
        for micro, (batch, factor) in enumerate(micro_batches):
            seed_micro_batch(self.seed, step=number, micro=micro, rank=self.strategy.ranks.rank)
            batch = {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}
            is_last = micro == len(micro_batches) - 1
            with self.strategy.synchronising(is_last=is_last and self.second_pass is None):
                total, loss = self._backward(batch, data.counts, factor)
            if self.second_pass is not None:
                with self.second_pass(), self.strategy.synchronising(is_last=is_last):
                    self._backward(batch, data.counts, factor)
            if factor:
                step_total = step_total + total.detach()
                add_loss(loss)
        if self.scale is not None:
            self.scale.unscale(p.grad for p in self.parameters if p.grad is not None)
        return self._clipped(), step_total

    def _backward(self, batch: dict[str, Tensor], counts: dict[str, int], factor: float) -> tuple[Tensor, Any]:
        """Add the gradient of a micro-batch; its share of the step's loss, and its terms."""
        with self.autocast():
            total, loss = self.forward(batch, counts)
        (total * factor if self.scale is None else total * (factor * self.scale.value)).backward()
        return total, loss

    def _clipped(self) -> Tensor:
        return whole(torch.nn.utils.clip_grad_norm_(self.parameters, self.clip or float("inf")))
