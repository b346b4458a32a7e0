"""Tensors from our names to a family's and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ptcli.errors import CheckpointError
from ptcli.interop.family import Entry


@dataclass(frozen=True)
class Read:
    """Another file's tensors under our names, and the names in it that none of ours took."""

    tensors: dict[str, Tensor]
    unused: list[str]


def to_theirs(tensors: Mapping[str, Tensor], entries: Iterable[Entry]) -> dict[str, Tensor]:
    """Our tensors (all names, tied ones too) under their names, each with memory of its own."""
    result: dict[str, Tensor] = {}
    for entry in entries:
        tensor = tensors[entry.ours].detach().cpu() if entry.ours in tensors else _made_up(entry)
        if entry.rows is not None:
            tensor = tensor[-entry.rows :]
        for name, part in zip(entry.theirs, entry.layout.to_theirs(tensor, len(entry.theirs)), strict=True):
            result[name] = part.clone().contiguous()
    return result


def to_ours(tensors: Mapping[str, Tensor], entries: Iterable[Entry]) -> Read:
    """Their tensors under our names, those that are there. Raises CheckpointError where two of them disagree.

    Where several layers of theirs are one of ours (shared weights), they must be equal.
    """
    result: dict[str, Tensor] = {}
    used: set[str] = set()
    for entry in entries:
        if not all(name in tensors for name in entry.theirs):
            continue
        used.update(entry.theirs)
        if not entry.read:
            continue
        tensor = entry.layout.to_ours([tensors[name] for name in entry.theirs])
        if entry.ours in result and not torch.equal(result[entry.ours], tensor):
            raise CheckpointError(f"{', '.join(entry.theirs)} are shared with other layers here, but differ there.")
        result[entry.ours] = tensor
    return Read(result, sorted(set(tensors) - used))


def _made_up(entry: Entry) -> Tensor:
    """What their model holds and ours needs no tensor for."""
    if entry.waves is not None:
        places, width = entry.waves
        exponents = torch.arange(0, width, 2, dtype=torch.float64) / width
        angles = torch.arange(places, dtype=torch.float64)[:, None] * 10000.0**-exponents
        return torch.cat((angles.sin(), angles.cos()), -1).float()
    assert entry.zeros is not None, f"{entry.ours} is not in the model"
    return torch.zeros(entry.zeros)
