import os
import random

import numpy as np
import torch

from ptcli.randomness import key_of


def seed_everything(seed: int) -> None:
    """Seed Python's, numpy's and torch's generators, before a model is built. (Data draws have keys of their own.)"""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def seed_micro_batch(seed: int, *, step: int, micro: int, rank: int = 0) -> None:
    """Seed dropout for one micro-batch: any step replays without a saved generator, and ranks differ."""
    torch.manual_seed(int(key_of(seed, "dropout", step, micro, rank)))


def make_deterministic() -> None:
    """Let torch refuse operations whose result depends on timing (CUDA; slower there)."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
