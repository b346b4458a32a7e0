"""How long gradients and updates are, by the optimizer's groups."""

import re

import torch
from torch import Tensor

from ptcli.trainer.budget import is_due
from ptcli.trainer.sharded import whole


class Norms:
    """Takes an optimizer's steps, and at those that are logged measures gradients (after clipping) and updates.

    For the updates the parameters are copied before such a step, so that they need their memory twice. `every`: as
    log.every; None: nothing is measured.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, *, every: float | None):
        self._optimizer, self._every = optimizer, every
        self._found: dict[str, Tensor] = {}

    def step(self, *, number: int, before: float, after: float) -> None:
        """The optimizer's step that is the run's `number`-th; `before`, `after`: shares of the budget behind then."""
        every = self._every
        if every is None or (after < 1 and not is_due(every, step=number, before=before, after=after)):
            self._optimizer.step()
            return
        groups = {re.sub(r"\W+", "_", group["name"]): group["params"] for group in self._optimizer.param_groups}
        self._found = {
            f"train/grad_norm/{name}": _length([p.grad for p in parameters if p.grad is not None])
            for name, parameters in groups.items()
        }
        copies = {name: [p.detach().clone() for p in parameters] for name, parameters in groups.items()}
        self._optimizer.step()
        for name, parameters in groups.items():
            torch._foreach_sub_(copies[name], [p.detach() for p in parameters])  # type: ignore[attr-defined]
            self._found[f"train/update_norm/{name}"] = _length(copies[name])

    def line(self) -> dict[str, float]:
        """What was measured at the last step, if it was; then it is forgotten. Waits for the device."""
        found, self._found = self._found, {}
        return {name: float(length) for name, length in found.items()}


def _length(tensors: list[Tensor]) -> Tensor:
    """The 2-norm over all of them. Every rank must call it where they are sharded."""
    return whole(torch.nn.utils.get_total_norm(tensors)).float()
