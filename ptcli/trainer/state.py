"""Where a run stands: all that a checkpoint holds beside tensors. There is no generator state: every draw is keyed."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ptcli.errors import CheckpointError


@dataclass
class TrainingState:
    """Counts from the run's beginning, over every resume."""

    step: int = 0  # optimiser steps done
    tokens: int = 0  # real tokens seen, padding not counted
    epoch: float = 0.0  # passes over the data
    seconds: float = 0.0  # of training, evaluation and saving included
    phase: int = 0  # number of the phase that the data state belongs to
    position: dict[str, Any] | None = None  # the loader's own; None at the beginning
    passes_before: float = 0.0  # passes over the data of earlier phases, less those that this phase's count begins with
    best: float | None = None  # lowest value of the metric that `fit` was told to keep the best of
    best_step: int | None = None
    without_better: int = 0  # evaluations since the best one
    skipped: int = 0  # steps whose gradient was not finite and was not used
    skipped_in_a_row: int = 0
    loss_scale: dict[str, Any] = field(default_factory=dict)  # of fp16
    left_plateau_at: int | None = None  # step of the first evaluation that showed context being used
    plateau: bool | None = None  # whether the last evaluation still showed none; None where it did not say
    evaluation_pending: bool = False  # stopped between a step and the evaluation that was due after it
    metrics: dict[str, float | None] = field(default_factory=dict)  # the latest value of each
    meter: dict[str, Any] = field(default_factory=dict)  # what was summed since the last log line
    metrics_bytes: int = 0  # length of metrics.jsonl, which a resume cuts back to
    budget: dict[str, float] = field(default_factory=dict)
    identity: dict[str, str] = field(default_factory=dict)  # hashes of what must not change under a run

    def to_dict(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingState":
        """Raise CheckpointError where an entry is missing or unknown."""
        known = {f.name for f in fields(cls)}
        if missing := sorted(known - set(values)):
            raise CheckpointError(f"the saved state lacks {', '.join(missing)}")
        if unknown := sorted(set(values) - known):
            raise CheckpointError(f"the saved state holds {', '.join(unknown)}, which this version does not know")
        return cls(**values)
