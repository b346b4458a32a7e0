"""An optimizer's state as named tensors, by the names of the parameters, so that nothing needs pickling."""

from typing import Any

import torch
from torch import Tensor, nn

from ptcli.errors import CheckpointError
from ptcli.trainer.sharded import shard_like


def named_state(optimizer: torch.optim.Optimizer, module: nn.Module) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors under "<parameter>/<entry>", and plain values: numbers of the state, settings of the groups."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, Any] = {}
    for parameter, entries in optimizer.state.items():
        for entry, value in entries.items():
            key = f"{names[parameter]}/{entry}"
            if isinstance(value, Tensor):
                tensors[key] = value.detach()
            else:
                numbers[key] = value
    groups = [
        {key: list(value) if isinstance(value, tuple) else value for key, value in group.items() if key != "params"}
        | {"parameters": [names[p] for p in group["params"]]}
        for group in optimizer.param_groups
    ]
    return tensors, {"class": type(optimizer).__name__, "numbers": numbers, "groups": groups}


def load_state(
    optimizer: torch.optim.Optimizer, module: nn.Module, tensors: dict[str, Tensor], plain: dict[str, Any]
) -> None:
    """Put back what `named_state` gave. Raise CheckpointError where the optimizer or its parameters are others."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    own = [[names[p] for p in group["params"]] for group in optimizer.param_groups]
    saved = [group["parameters"] for group in plain["groups"]]
    if type(optimizer).__name__ != plain["class"] or own != saved:
        raise CheckpointError(
            f"The saved optimizer ({plain['class']}, {sum(map(len, saved))} parameters in {len(saved)} groups) is not "
            f"this one ({type(optimizer).__name__}, {sum(map(len, own))} in {len(own)})."
        )
    number_of = {name: number for number, name in enumerate(name for group in own for name in group)}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Any]] = {}
    for key, value in [*tensors.items(), *plain["numbers"].items()]:
        name, entry = key.rsplit("/", 1)
        if name not in number_of:
            raise CheckpointError(f"The saved optimizer holds {key}, but there is no parameter {name}.")
        like = parameters[number_of[name]]
        is_sharded = isinstance(value, Tensor) and value.shape == like.shape
        state.setdefault(number_of[name], {})[entry] = shard_like(value, like) if is_sharded else value
    current = optimizer.state_dict()["param_groups"]
    groups = [
        {
            key: tuple(was[key]) if isinstance(value, tuple) else was.get(key, value)
            for key, value in group.items()
            if key != "params"
        }
        | {"params": group["params"]}
        for group, was in zip(current, plain["groups"], strict=True)
    ]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
