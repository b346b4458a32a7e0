"""What a run's first steps made of the weights, written down so that the run can be repeated and compared."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ptcli.errors import CheckpointError
from ptcli.files import write_whole
from ptcli.trainer.checkpoint import versions
from ptcli.trainer.weights import named_tensors

RECORDED = (1, 5, 20)
"""The steps after which each tensor is hashed."""

_FILE = "first_steps.json"


class FirstSteps:
    """Writes `first_steps.json` into a run's folder: a SHA-256 of each tensor after a few of the first steps.

    `corpus`: which text is trained on, for the record.
    """

    def __init__(self, folder: Path, module: nn.Module, *, device: torch.device, corpus: str):
        self._folder, self._module = folder, module
        self._begun = {"made_on": made_on(device), "corpus": corpus}
        self._record: dict[str, Any] = {**self._begun, "steps": {}}
        if (folder / _FILE).exists():
            self._record = read_record(folder)

    def after(self, step: int) -> None:
        """After optimiser step number `step`, counted from 1. Of a run that goes on elsewhere, nothing is added."""
        if step == 1:
            self._record = {**self._begun, "steps": {}}
        if step not in RECORDED or self._record["made_on"] != self._begun["made_on"]:
            return
        self._record["steps"][str(step)] = digests(self._module)
        write_whole(self._folder / _FILE, json.dumps(self._record, indent=1) + "\n")


def made_on(device: torch.device) -> dict[str, Any]:
    """What decides, beside the configuration, whether two runs are bitwise equal."""
    processor = torch.cuda.get_device_name(device) if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()
    return {
        "torch": versions()["torch"],
        "ptcli": versions()["ptcli"],
        "machine": platform.machine(),
        "processor": processor,
        "threads": torch.get_num_threads(),
    }


def read_record(folder: Path) -> dict[str, Any]:
    """What FirstSteps wrote: `made_on`, `corpus`, and `steps`: digests by step. CheckpointError where there is none."""
    path = folder / _FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {**record, "made_on": dict(record["made_on"]), "steps": dict(record["steps"])}
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{folder} holds no {_FILE}: it has taken no step, was trained for minutes (which do not repeat), "
            "or on several devices."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error


def digests(module: nn.Module) -> dict[str, str]:
    """A SHA-256 of the bytes of each tensor of a module, by name; what is tied or shared, once."""
    found = {}
    for name, tensor in named_tensors(module)[0].items():
        raw = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        found[name] = hashlib.sha256(raw.numpy().data).hexdigest()
    return found


def first_difference(there: dict[str, str], here: dict[str, str]) -> str | None:
    """The first tensor that is not in both, or not the same."""
    return next((name for name in dict.fromkeys([*there, *here]) if there.get(name) != here.get(name)), None)
