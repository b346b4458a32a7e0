"""What `Trainer.fit` is told: what is trained, and how often something happens on the way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import nn

from ptcli.trainer.budget import Budget, check_every
from ptcli.trainer.feed import Phase
from ptcli.trainer.parallel import Single


class Schedule(Protocol):
    """The learning rate's factor over the run."""

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where it does not fit the budget."""
        ...

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The factor for update `step` (from 0); `before`, `after`: shares of the budget behind then."""
        ...


@dataclass(frozen=True, kw_only=True)
class Training:
    """What is trained, on what, for how long, and how it is judged.

    `step`: a TrainingStep on the trainer's device; `phases`: what feeds it, one after the other. `strategy`: what
    `Trainer.distribute` gave for it; None: this process trains it alone.

    `evaluate` gives metrics and changes nothing; `left_plateau` judges them; `best_metric` is lowest at its best, or
    highest where `higher_is_better`. `export` writes the model, at the end and when interrupted.

    `identity`: hashes by name of what must be the same when a run goes on ("configuration", "corpus").
    `resume_command`: what goes on with it, for people.
    """

    step: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: Schedule
    phases: Sequence[Phase]
    budget: Budget
    seed: int
    strategy: Single | None = None
    evaluate: Callable[[], dict[str, float]] | None = None
    left_plateau: Callable[[dict[str, float]], bool | None] | None = None
    best_metric: str | None = None
    higher_is_better: bool = False
    export: Callable[[], None] | None = None
    identity: Mapping[str, str] = field(default_factory=dict)
    resume_command: str = "the same command"


@dataclass(frozen=True, kw_only=True)
class Every:
    """How often something happens: from 1 on, a number of steps; below 1, a share of the budget; 0, at the end alone.

    `keep`: newest checkpoints that are kept, beside the best. `norms`: whether log lines hold norms of gradients and
    updates by the optimizer's groups.
    """

    log: float = 10
    evaluate: float = 0.1
    save: float = 0.1
    keep: int = 2
    norms: bool = False

    def __post_init__(self) -> None:
        for name, every in (("log.every", self.log), ("eval.every", self.evaluate), ("save.every", self.save)):
            check_every(name, every)
