"""How one training step is spread over ranks: alone, replicated (DDP), or sharded (FSDP2).

Gradients are averaged over ranks, so that losses, which are divided by the counts of all ranks, are first multiplied by
the number of ranks.
"""

import copy
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ptcli.errors import ConfigError
from ptcli.trainer.ranks import Ranks
from ptcli.trainer.sharded import copy_whole

STRATEGIES = ("auto", "single", "ddp", "fsdp")


def choose_strategy(strategy: str, *, devices: int) -> str:
    """The name of the strategy. `auto`: single on one device, else ddp. Raise ConfigError where it does not fit."""
    if strategy not in STRATEGIES:
        raise ConfigError(f"trainer.strategy={strategy}: choose one of {', '.join(STRATEGIES)}.")
    if strategy == "auto":
        return "single" if devices == 1 else "ddp"
    if strategy == "single" and devices > 1:
        raise ConfigError(f"trainer.strategy=single trains on one device, not on {devices}. Use ddp, fsdp, or auto.")
    if strategy != "single" and devices == 1:
        raise ConfigError(
            f"trainer.strategy={strategy} needs more than one device. Type trainer.devices=2 or more, or "
            "trainer.strategy=auto."
        )
    return strategy


class Single:
    """One process: nothing is spread.

    `step` is the whole: what is evaluated and exported. `trained` is what the optimizer's parameters belong to.
    """

    evaluates_together = False  # whether every rank must take part in an evaluation

    def __init__(self, step: nn.Module, *, ranks: Ranks):
        self.step = self.trained = step
        self.ranks = ranks

    def forward_of(self, *, compile: bool) -> Callable[..., Any]:
        """What a micro-batch is given to."""
        return torch.compile(self.trained) if compile else self.trained

    def synchronising(self, *, is_last: bool) -> AbstractContextManager:
        """The context of a micro-batch's forward and backward pass: gradients are exchanged in the step's last one."""
        return nullcontext()

    def micro_batches(self, own: Sequence[Any], *, most: int) -> list[tuple[Any, float]]:
        """A rank's micro-batches and the factor of each one's loss; `most`: of the rank that has most."""
        return [(batch, float(self.ranks.size)) for batch in own]

    @contextmanager
    def whole(self) -> Iterator[nn.Module]:
        """The whole step with the trained weights, to be evaluated or exported on rank 0. Every rank must enter."""
        yield self.step


class Replicated(Single):
    """A copy of the model on every rank; gradients are averaged (torch's DistributedDataParallel, arXiv:2006.15704)."""

    def forward_of(self, *, compile: bool) -> Callable[..., Any]:
        device = next(self.trained.parameters()).device
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of a name that torch 2.10 has alone
            self._wrapped = nn.parallel.DistributedDataParallel(
                super().forward_of(compile=compile),  # type: ignore[arg-type]
                device_ids=[device.index] if device.type == "cuda" else None,
                broadcast_buffers=False,  # one more collective a micro-batch, of which ranks may have different numbers
                gradient_as_bucket_view=True,
            )
        return self._wrapped

    def synchronising(self, *, is_last: bool) -> AbstractContextManager:
        return nullcontext() if is_last else self._wrapped.no_sync()


class Sharded(Single):
    """Weights, gradients and optimizer state in parts, one a rank (FSDP2, arXiv:2304.11277).

    Each layer is gathered when it runs. One that stands in several places, or shares parameters with another, is
    gathered once a step, with what is in no layer. `layers`: of the model, in the order in which they run.
    `compute_type`: of gathered weights; gradients are reduced in float32 all the same. The whole rests on the host.
    """

    def __init__(self, step: nn.Module, *, ranks: Ranks, layers: Sequence[nn.Module], compute_type: torch.dtype | None):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        super().__init__(step, ranks=ranks)
        self.device = next(step.parameters()).device
        mesh = init_device_mesh(self.device.type, (ranks.size,))
        policy = MixedPrecisionPolicy()
        if compute_type is not None:
            policy = MixedPrecisionPolicy(compute_type, reduce_dtype=torch.float32, cast_forward_inputs=False)
        names = [name for name, module in step.named_modules() if any(module is one for one in lone_layers(layers))]
        self.trained = copy.deepcopy(step)
        step.to("cpu")
        for module in [*map(self.trained.get_submodule, names), self.trained]:
            fully_shard(module, mesh=mesh, mp_policy=policy)

    def synchronising(self, *, is_last: bool) -> AbstractContextManager:
        self.trained.set_requires_gradient_sync(is_last)  # type: ignore[operator]
        return nullcontext()

    def micro_batches(self, own: Sequence[Any], *, most: int) -> list[tuple[Any, float]]:
        """See `Single.micro_batches`. Every forward pass gathers weights: where others have more, the last counts 0."""
        return super().micro_batches(own, most=most) + [(own[-1], 0.0)] * (most - len(own))

    @contextmanager
    def whole(self) -> Iterator[nn.Module]:
        """See `Single.whole`: the weights are gathered, and on rank 0 lie on its device meanwhile."""
        copy_whole(_tensors(self.trained), _tensors(self.step))
        if self.ranks.is_first:
            self.step.to(self.device)
        try:
            yield self.step
        finally:
            self.step.to("cpu")


def lone_layers(layers: Sequence[nn.Module]) -> list[nn.Module]:
    """The layers that run in one place only and share no parameter with another."""
    places = Counter(id(layer) for layer in layers)
    distinct = {id(layer): layer for layer in layers}
    owners = Counter(id(parameter) for layer in distinct.values() for parameter in layer.parameters())
    return [
        layer
        for number, layer in distinct.items()
        if places[number] == 1 and all(owners[id(parameter)] == 1 for parameter in layer.parameters())
    ]


def recompute_activations(layers: Sequence[nn.Module]) -> None:
    """Keep only what enters each layer, and compute what is inside again in the backward pass (arXiv:1604.06174)."""
    for layer in {id(layer): layer for layer in layers}.values():
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)  # type: ignore[method-assign]


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}
