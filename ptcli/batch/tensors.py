"""The one place where numpy arrays of a batch become tensors."""

import numpy as np
import torch


def to_tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """The same batch as tensors that share the arrays' memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
