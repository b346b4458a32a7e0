"""Tensors of which every rank holds a part, seen and set as wholes."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor, distribute_tensor


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor. Every rank must call it, in the same order, where it is sharded."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def local(tensor: Tensor) -> Tensor:
    """This rank's part of a tensor, in the same memory."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def shard_like(value: Tensor, like: Tensor) -> Tensor:
    """This rank's part of a whole `value`, sharded as `like`; `value` itself where `like` is whole. Sends nothing."""
    if not isinstance(like, DTensor):
        return value
    value = value.to(like.device)
    return distribute_tensor(value, like.device_mesh, like.placements, src_data_rank=None)


@torch.no_grad()
def put(tensor: Tensor, value: Tensor) -> None:
    """Copy a whole `value` into a tensor, sharded or not."""
    tensor.copy_(shard_like(value, tensor))


@torch.no_grad()
def copy_whole(source: Mapping[str, Tensor], target: Mapping[str, Tensor]) -> None:
    """Copy tensors by name into whole ones. Every rank must call it."""
    for name, tensor in target.items():
        tensor.copy_(whole(source[name].detach()))
