from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import torch

from ptcli.errors import ConfigError


class FastGradient:
    """Every micro-batch is trained on twice: as it is, and with the token vectors moved so that its loss grows ("FGM",
    arXiv:1605.07725).

    The table of token vectors is moved by `epsilon` times its gradient over the gradient's length: for all tokens
    together, as later implementations do, where the paper moves the normed vectors of each example. Of several
    micro-batches in a step, a later one is moved along the gradient summed up so far.
    """

    follows_gradient = True  # of the token vectors

    def __init__(self, *, epsilon: float = 0.25):
        if not 0 < epsilon < inf:
            raise ConfigError(f"task.adversarial.epsilon={epsilon} must be above 0, such as 0.25.")
        self.epsilon = epsilon

    @contextmanager
    def second_pass(self, model: Any) -> Iterator[None]:
        """While entered, the token vectors of `model` are moved. To be entered when they have a gradient."""
        table = model.embeddings.tokens.weight
        assert table.grad is not None, "frozen embeddings are refused before"
        before = table.detach().clone()
        length = torch.linalg.vector_norm(table.grad)
        with torch.no_grad():  # where the gradient is 0 or not finite, nothing is moved
            usable = torch.isfinite(length) & (length > 0)
            table.add_(torch.where(usable, table.grad * (self.epsilon / length), 0.0))
        try:
            yield
        finally:
            with torch.no_grad():
                table.copy_(before)
