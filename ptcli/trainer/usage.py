"""What a machine can do and what it is doing: the fastest matrix product, memory, power."""

import functools
import resource
import sys
import time
from typing import Any

import torch

_GIBIBYTE = 2**30
_SIDES = {"cpu": 768, "cuda": 8192}
_SECONDS = 0.1  # how long is measured


@functools.cache
def matmul_ceiling(device: torch.device, kind: torch.dtype, threads: int, *, is_tf32: bool = False) -> float:
    """Floating-point operations a second in the best of several products of square matrices, measured once a process.

    `threads` of the CPU and whether float32 products are `is_tf32` are part of the question: the answer is kept for
    them.
    """
    side = _SIDES[device.type]
    generator = torch.Generator(device).manual_seed(0)  # the run's own draws are not disturbed
    left, right = (torch.randn(side, side, generator=generator, device=device).to(kind) for _ in range(2))
    torch.mm(left, right)
    best, begun = float("inf"), time.perf_counter()
    while best == float("inf") or time.perf_counter() - begun < _SECONDS:
        _wait(device)
        start = time.perf_counter()
        torch.mm(left, right)
        _wait(device)
        best = min(best, time.perf_counter() - start)
    del left, right
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)  # the run's own memory is to be told
    return 2 * side**3 / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def memory(device: torch.device) -> float:
    """The most memory that this process has held, in GiB: allocated on the GPU, or resident for a CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / _GIBIBYTE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / _GIBIBYTE


class Power:
    """What the GPU draws, where nvidia-ml-py is installed and answers; nothing anywhere else."""

    def __init__(self, device: torch.device):
        self._library: Any = None
        if device.type != "cuda":
            return
        try:
            import pynvml  # pyright: ignore[reportMissingImports]

            pynvml.nvmlInit()
            identity = str(torch.cuda.get_device_properties(device).uuid)
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{identity}")
            pynvml.nvmlDeviceGetPowerUsage(self._handle)
            self._library = pynvml
        except Exception:  # no package, no driver, no permission, a part of a GPU: there is nothing to report
            return

    def watts(self) -> float | None:
        """Averaged by the driver over about a second."""
        if self._library is None:
            return None
        try:
            return self._library.nvmlDeviceGetPowerUsage(self._handle) / 1000
        except Exception:  # the driver is gone or busy: no figure for this line
            return None
