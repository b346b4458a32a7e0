"""What this machine offers a training."""

import os
import platform

import torch
from torch import distributed

from ptcli.trainer.precision import computes_bf16


def environment(device: torch.device) -> dict[str, str]:
    """Lines about devices and libraries, by name. `device`: the one that is trained on."""
    is_fast, why = computes_bf16(device)
    lines = {
        "python, torch": f"{platform.python_version()}, {torch.__version__}",
        "CPU": f"{os.cpu_count()} cores, {torch.get_num_threads()} threads in use",
        "GPUs": _gpus(),
        "bf16": f"{'fast' if is_fast else 'slow'}: {why}",
    }
    backends = [
        name
        for name, there in (("nccl", distributed.is_nccl_available), ("gloo", distributed.is_gloo_available))
        if distributed.is_available() and there()
    ]
    return {**lines, "several processes": ", ".join(backends) or "not in this torch"}


def _gpus() -> str:
    if not torch.cuda.is_available():
        return "none that torch finds" if torch.version.cuda else "none (a torch without CUDA)"
    properties = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    return "; ".join(
        f"{one.name}, {one.total_memory / 2**30:.0f} GiB, compute {one.major}.{one.minor}" for one in properties
    )
