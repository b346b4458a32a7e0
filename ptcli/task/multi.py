"""Several tasks that one encoder learns together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.metrics.score import LOWER_IS_BETTER
from ptcli.task.task import Task

_SHARED = {"reinitialise_layers": 0, "freeze_layers": 0, "freeze_embeddings": False}  # what is about the encoder


class Multi:
    """Tasks that share an encoder and have heads of their own ("MT-DNN", arXiv:1901.11504).

    Each step has rows of one task. MT-DNN shuffles the mini-batches of all tasks, which `mixing` by size does; the last
    of each is not smaller here, but all of nearly one size.

    Args:
        members: the tasks by name, two or more.
        mixing: of the steps in which each task's rows are seen once, how many each has in an epoch.
        pretraining: share of the steps, in [0, 1), that go on with what the checkpoint was pretrained by.
        then_epochs: passes over a task's rows in which each is trained alone afterwards; None: none follow.
        reinitialise_layers, freeze_layers, freeze_embeddings: see ptcli.task.initialise; they hold for all tasks.
    """

    is_task = True

    def __init__(
        self,
        *,
        members: Mapping[str, Task],
        mixing: Callable[[Sequence[int]], list[int]],
        pretraining: float = 0.0,
        then_epochs: float | None = None,
        reinitialise_layers: int = 0,
        freeze_layers: int = 0,
        freeze_embeddings: bool = False,
    ):
        self.members = dict(sorted(members.items()))  # in one order, however they are typed
        self.mixing = mixing
        self.pretraining, self.then_epochs = pretraining, then_epochs
        self.initialising: dict[str, Any] = {
            "reinitialise_layers": reinitialise_layers,
            "freeze_layers": freeze_layers,
            "freeze_embeddings": freeze_embeddings,
        }

    def check(self) -> None:
        """Raise ConfigError where a setting is out of its range, or the tasks do not go together.

        Each member's own `check` is to be called, too.
        """
        if not 0 <= self.pretraining < 1:
            raise ConfigError(f"task.pretraining={self.pretraining}: a share of the steps, from 0 to below 1.")
        if self.then_epochs is not None and not self.then_epochs > 0:
            raise ConfigError(f"task.then_epochs={self.then_epochs}: passes above 0, or null for none.")
        for name, member in self.members.items():
            self._check_shared(name, member)
            if member.best_metric in LOWER_IS_BETTER:
                rising = [metric for metric in member.metrics_of_kind if metric not in LOWER_IS_BETTER]
                raise ConfigError(
                    f"task.members.{name}.best_metric={member.best_metric} falls as a model gets better, but the best "
                    "weights are those with the highest mean over the tasks. Choose one that rises, and have it in "
                    f"task.members.{name}.metrics: {', '.join(rising)}."
                )

    def steps_of_epoch(self, sizes: Sequence[int]) -> list[int]:
        """Steps of each task in an epoch, then those that go on with pretraining: `sizes` see each task's rows once."""
        steps = self.mixing(sizes)
        total = sum(steps)
        return [*steps, max(1, round(total * self.pretraining / (1 - self.pretraining))) if self.pretraining else 0]

    def _check_shared(self, name: str, member: Task) -> None:
        for key, default in _SHARED.items():
            value = member.on_model.get(key, default)
            if value != default:
                raise ConfigError(
                    f"task.members.{name}.{key}={str(value).lower()} is about the encoder, which all tasks share. "
                    f"Type task.{key}={str(value).lower()}"
                )


class Temperature:
    """How often each task is trained: one of n steps has a share of the epoch's that goes as n^`exponent`.

    1 is proportional mixing (MT-DNN, arXiv:1901.11504), 0 treats all alike; between them large tasks are seen less
    often, small ones more often than they are large (multilingual BERT: 0.7; XLM-R, arXiv:1911.02116: 0.3; T5,
    arXiv:1910.10683, calls 1 / exponent the temperature). Steps are given out and not drawn, so that an epoch has
    exactly these shares, to a step.
    """

    def __init__(self, *, exponent: float = 0.5):
        if not 0 <= exponent <= 1:
            raise ConfigError(f"task.mixing.exponent={exponent} must lie between 0 (all alike) and 1 (by size).")
        self.exponent = exponent

    def __call__(self, sizes: Sequence[int]) -> list[int]:
        """Of sum(sizes) steps those of each task, whose rows make `sizes` of them, 1 or more each."""
        weights = np.asarray(sizes, np.float64) ** self.exponent
        ideal = weights / weights.sum() * sum(sizes)
        counts = np.floor(ideal + 1e-9).astype(np.int64)
        left = sum(sizes) - int(counts.sum())
        counts[np.argsort(-(ideal - counts), kind="stable")[:left]] += 1
        return [int(count) for count in counts]
