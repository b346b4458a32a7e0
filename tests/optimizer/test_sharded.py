"""Optimizers on weights of which every rank holds a part (FSDP2) step as on whole ones."""

import copy

import pytest
import torch
from torch import distributed
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor

from ptcli.config.facts import fact
from ptcli.config.targets import locate
from tests.optimizer.toy import PARTS, build, settings_of, whole

RANKS = 2
ROUNDING = {"muon": 2e-3}  # torch makes matrices orthogonal in bfloat16: 1 % of three steps of 0.02, and sums by parts
TAKE_PARTS = [name for name in PARTS if fact(locate(settings_of(name)["_target_"]), "takes_parts", True)]


def compare(rank: int, store: str) -> None:
    """What each rank does: three steps of every optimizer, sharded and whole."""
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    try:
        for name in TAKE_PARTS:
            plain = whole()
            sharded = copy.deepcopy(plain)
            fully_shard(sharded)
            one, other = build(name, plain, learning_rate=0.02), build(name, sharded, learning_rate=0.02)
            for number in range(3):
                plain.zero_grad()
                plain.loss(number).backward()
                for parameter, part in zip(plain.parameters(), sharded.parameters(), strict=True):
                    part.grad = distribute_tensor(parameter.grad.clone(), part.device_mesh, part.placements)
                one.step()
                other.step()
            for (parameter, expected), part in zip(plain.named_parameters(), sharded.parameters(), strict=True):
                difference = float((part.full_tensor() - expected).detach().abs().max())
                assert difference < ROUNDING.get(name, 1e-5), f"{name}, {parameter}: {difference}"
    finally:
        distributed.destroy_process_group()


@pytest.mark.distributed
def test_parts_step_as_the_whole(tmp_path):
    assert set(PARTS) - set(TAKE_PARTS) == {"adafactor"}
    torch.multiprocessing.spawn(compare, args=(str(tmp_path / "store"),), nprocs=RANKS)
