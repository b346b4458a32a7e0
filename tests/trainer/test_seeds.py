import random

import numpy as np
import torch

from ptcli.trainer.seeds import seed_everything, seed_micro_batch


def draws():
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_one_seed_for_all_generators():
    seed_everything(5)
    first = draws()
    seed_everything(5)
    assert draws() == first
    seed_everything(2**40 + 5)
    assert draws() != first


def test_each_micro_batch_has_a_seed_of_its_own():
    seen = set()
    for seed, step, micro, rank in [(1, 0, 0, 0), (2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)]:
        seed_micro_batch(seed, step=step, micro=micro, rank=rank)
        seen.add(torch.rand(1).item())
    assert len(seen) == 5
    seed_micro_batch(1, step=0, micro=0)
    assert torch.rand(1).item() in seen
