"""Where to compute, and in which number format."""

from contextlib import AbstractContextManager, nullcontext

import torch

from ptcli.errors import ConfigError


def choose_device(device: str) -> torch.device:
    """`auto` is CUDA where there is one. Raise ConfigError where `cuda` is asked for and absent."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda":
        if not torch.cuda.is_available():
            build = "this torch has no CUDA" if torch.version.cuda is None else "torch finds no CUDA device"
            raise ConfigError(f"trainer.device=cuda: {build}. Use trainer.device=cpu, or auto.")
        return torch.device("cuda")
    if device == "cpu":
        return torch.device("cpu")
    raise ConfigError(f"trainer.device={device}: choose auto, cpu or cuda.")


def computes_bf16(device: torch.device) -> tuple[bool, str]:
    """Whether bfloat16 is faster than float32 on `device`, and why."""
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return True, "the GPU computes it"
        return False, "the GPU does not compute it"
    # torch has no public question for this yet; an absent one counts as no
    for question, name in (("_is_amx_tile_supported", "AMX"), ("_is_avx512_bf16_supported", "AVX512_BF16")):
        if getattr(torch.cpu, question, bool)():
            return True, f"the CPU has {name}"
    return False, "the CPU has neither AMX nor AVX512_BF16"


def choose_precision(precision: str, device: torch.device) -> tuple[bool, str]:
    """Whether to compute under bf16 autocast, and a sentence that says so. `precision`: auto, fp32 or bf16."""
    is_fast, why = computes_bf16(device)
    if precision == "auto":
        return is_fast, f"{'bf16 autocast' if is_fast else 'fp32'}, since {why}"
    if precision == "fp32":
        return False, "fp32"
    if precision == "bf16":
        if device.type == "cuda" and not is_fast:
            raise ConfigError(f"trainer.precision=bf16: {why}. Use trainer.precision=fp32, or auto.")
        return True, "bf16 autocast" + ("" if is_fast else f", which is slow here: {why}")
    raise ConfigError(f"trainer.precision={precision}: choose auto, fp32 or bf16.")


def autocast(device: torch.device, *, is_bf16: bool) -> AbstractContextManager:
    """The context that forward passes run in."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if is_bf16 else nullcontext()
