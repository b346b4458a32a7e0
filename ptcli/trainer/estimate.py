"""What a training takes, before it is begun: memory by part, and seconds measured on a few steps."""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_UPDATES = 3  # optimizer updates that are timed, after one that is not


@dataclass(frozen=True)
class Fixed:
    """Bytes that a training holds whatever its batch, on one device. `checkpoint`: of the whole, on disk.

    `optimizer`: None where it is not known; it then counts as two moments.
    """

    weights: int
    optimizer: int | None
    average: int
    parts: int  # devices among which the three are divided

    @property
    def states(self) -> int:
        """Of the optimizer, known or assumed."""
        return 2 * self.weights if self.optimizer is None else self.optimizer

    @property
    def total(self) -> int:
        """Weights, gradients, the optimizer's state and the weights' average."""
        return (2 * self.weights + self.states + self.average) // self.parts

    @property
    def checkpoint(self) -> int:
        """Weights, the optimizer's state and the weights' average."""
        return self.weights + self.states + self.average


def fixed_bytes(step: nn.Module, optimizer: torch.optim.Optimizer, *, averages: bool, parts: int = 1) -> Fixed:
    """What `step` and `optimizer`, on the meta device, will hold."""
    weights = sum(parameter.nbytes for parameter in step.parameters())
    return Fixed(weights, optimizer_bytes(optimizer), weights if averages else 0, parts)


def optimizer_bytes(optimizer: torch.optim.Optimizer) -> int | None:
    """Bytes of an optimizer's state, found by a step on gradients without numbers; None where it needs numbers.

    The parameters lie on the meta device.
    """
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.empty_like(parameter)
    try:
        optimizer.step()
    except Exception:  # whatever a library does with values that are not there
        return None
    return _state_bytes(optimizer)


def _state_bytes(optimizer: torch.optim.Optimizer) -> int:
    return sum(
        value.nbytes for state in optimizer.state.values() for value in state.values() if isinstance(value, Tensor)
    )


def memory_of(device: torch.device) -> tuple[int, int] | None:
    """(free, total) bytes of the device's memory; None where the system does not say."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    except (ValueError, OSError, AttributeError):
        return None


@dataclass(frozen=True)
class Measured:
    """Of one micro-batch: tokens, seconds forward and backward, bytes kept for the backward pass; of one update."""

    tokens: int
    seconds: float
    activation_bytes: int
    optimizer_bytes: int
    update_seconds: float
    steps: int


def measure(
    step: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Mapping[str, Tensor],
    counts: dict[str, int],
    *,
    autocast: Callable[[], AbstractContextManager],
    steps: int = 10,
    seconds: float = 10.0,
) -> Measured:
    """Train on one micro-batch again and again, `steps` times or for `seconds`, but twice at least; medians.

    The first time is not counted: memory is made then, and what is compiled is. `step` and `batch` lie on the device.
    """
    device = next(step.parameters()).device
    step.train()
    if hasattr(optimizer, "train"):
        optimizer.train()  # type: ignore[attr-defined]  (one that averages its weights)

    def once() -> None:
        with autocast():
            total, _ = step(batch, counts)
        total.backward()

    kept = _bytes_kept(step, once)
    timed, begun = [], time.perf_counter()
    while len(timed) < steps and (not timed or time.perf_counter() - begun < seconds):
        optimizer.zero_grad(set_to_none=True)
        timed.append(_timed(once, device))
    updates = [_timed(optimizer.step, device) for _ in range(_UPDATES + 1)]
    return Measured(
        tokens=counts["tokens"],
        seconds=statistics.median(timed),
        activation_bytes=kept,
        optimizer_bytes=_state_bytes(optimizer),
        update_seconds=statistics.median(updates[1:]),
        steps=len(timed),
    )


def _timed(work: Callable[[], object], device: torch.device) -> float:
    begun = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begun


def _bytes_kept(step: nn.Module, once: Callable[[], None]) -> int:
    """Bytes that the forward pass keeps for the backward pass, parameters not counted."""
    own = {parameter.untyped_storage().data_ptr() for parameter in step.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        once()
    return sum(kept.values())
