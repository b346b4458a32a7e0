"""Where to compute."""

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


def count_devices(devices: int | str, device: torch.device, *, started: int) -> int:
    """How many devices train together. `auto`: all GPUs of this host, or the CPU. `started`: processes there are.

    Raise ConfigError where there are fewer, or torchrun or srun has started another number.
    """
    if started > 1:
        if devices not in (1, "auto", started):
            raise ConfigError(
                f"trainer.devices={devices}, but {started} processes were started, which is the number of devices. "
                "Leave trainer.devices out under torchrun and srun."
            )
        return started
    available = torch.cuda.device_count() if device.type == "cuda" else None
    if devices == "auto":
        return available or 1
    if not isinstance(devices, int) or isinstance(devices, bool) or devices < 1:
        raise ConfigError(f"trainer.devices={devices}: a number of devices, 1 or more, or auto.")
    if available is not None and devices > available:
        raise ConfigError(f"trainer.devices={devices}, but torch finds {available} on this host. Use auto for all.")
    return devices
