"""In which number format to compute, and the factor that keeps small float16 gradients from vanishing."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ptcli.errors import ConfigError

PRECISIONS = ("auto", "fp32", "tf32", "bf16", "bf16_pure", "fp16")
_AMPERE = (8, 0)  # the first NVIDIA GPUs that compute tf32


@dataclass(frozen=True)
class Precision:
    """A number format. `text` says it in words, and why it was chosen where ptcli chose it.

    Weights and the optimizer's state stay in float32, but for bf16_pure.
    """

    text: str
    device: torch.device
    autocast_type: torch.dtype | None = None  # of matrix products; None: that of the weights
    weights_type: torch.dtype = torch.float32
    is_scaled: bool = False  # the loss is multiplied before the backward pass, the gradient divided after it
    is_tf32: bool = False

    @property
    def compute_type(self) -> torch.dtype:
        """Of matrix products."""
        return self.autocast_type or self.weights_type

    def begin(self) -> None:
        """Set what torch keeps for the whole process: whether float32 products on a GPU may be tf32."""
        torch.set_float32_matmul_precision("high" if self.is_tf32 else "highest")

    def autocast(self) -> AbstractContextManager:
        """The context that forward passes run in."""
        return nullcontext() if self.autocast_type is None else torch.autocast(self.device.type, self.autocast_type)


def choose_precision(precision: str, device: torch.device) -> Precision:
    """The format of this name. Raise ConfigError where the device cannot compute it. `auto`: bf16 where it is fast."""
    if precision not in PRECISIONS:
        raise ConfigError(f"trainer.precision={precision}: choose one of {', '.join(PRECISIONS)}.")
    is_fast, why = computes_bf16(device)
    slowly = "" if is_fast else f", which is slow here: {why}"
    if precision == "fp32" or (precision == "auto" and not is_fast):
        return Precision("fp32" + (f", since {why}" if precision == "auto" else ""), device)
    if precision == "tf32":
        return _tf32(device)
    if precision == "fp16":
        text = "fp16 autocast, the loss scaled" + (", which is slow on CPUs" if device.type == "cpu" else "")
        return Precision(text, device, autocast_type=torch.float16, is_scaled=True)
    if device.type == "cuda" and not is_fast:
        raise ConfigError(f"trainer.precision={precision}: {why}. Use trainer.precision=fp16, fp32, or auto.")
    if precision == "bf16_pure":
        return Precision(f"bf16, weights included{slowly}", device, weights_type=torch.bfloat16)
    text = f"bf16 autocast, since {why}" if precision == "auto" else f"bf16 autocast{slowly}"
    return Precision(text, device, autocast_type=torch.bfloat16)


def _tf32(device: torch.device) -> Precision:
    if device.type != "cuda":
        raise ConfigError("trainer.precision=tf32 is a format of NVIDIA GPUs. On a CPU use fp32, or bf16.")
    if torch.cuda.get_device_capability(device) < _AMPERE:
        name = torch.cuda.get_device_name(device)
        raise ConfigError(f"trainer.precision=tf32: {name} does not compute it. Use fp32.")
    return Precision("tf32", device, is_tf32=True)


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


class LossScale:
    """The factor of a float16 loss, adapted by the rule of `torch.amp.GradScaler` (arXiv:1710.03740).

    Halved after a step whose gradient overflowed (which is skipped), doubled after `interval` steps without one. It is
    decided by the norm of the whole gradient, which all ranks share, and holds for optimizers of any make.
    """

    def __init__(self, *, value: float = 2.0**16, interval: int = 2000):
        self.value, self.interval = value, interval
        self._good = 0

    def unscale(self, gradients: Iterable[Tensor]) -> None:
        """Divide gradients by the factor, in place."""
        torch._foreach_mul_(list(gradients), 1.0 / self.value)  # pyright: ignore[reportPrivateImportUsage]

    def adapt(self, *, overflowed: bool) -> None:
        """After each step."""
        if overflowed:
            self.value, self._good = self.value / 2, 0
            return
        self._good += 1
        if self._good == self.interval:
            self.value, self._good = self.value * 2, 0

    def saved(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"value": self.value, "good_steps": self._good}

    def load(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint; nothing where it kept none."""
        if saved:
            self.value, self._good = float(saved["value"]), int(saved["good_steps"])
