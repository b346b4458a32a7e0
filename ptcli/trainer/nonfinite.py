"""Losses and gradients that are infinite or not-a-number: told, skipped where that is asked for, never saved."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from ptcli.errors import PtcliError
from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.feed import Feed
from ptcli.trainer.meter import Meter
from ptcli.trainer.precision import LossScale
from ptcli.trainer.state import TrainingState

MOST_SKIPPED = 20
"""Steps in a row whose gradient is not finite; one more ends the run, however they are to be treated."""


class NotFiniteError(PtcliError):
    """The loss or its gradient became infinite or not-a-number."""


class NonFinite:
    """Watches over the steps of a run. `on_nonfinite`: stop or skip; `scale`: of fp16, whose overflows are skipped."""

    def __init__(
        self,
        *,
        on_nonfinite: str,
        scale: LossScale | None,
        checkpoints: Checkpoints,
        feed: Feed,
        say: Callable[[str], None],
    ):
        self.on_nonfinite, self.scale = on_nonfinite, scale
        self._checkpoints, self._feed, self._say = checkpoints, feed, say
        self._unchecked: dict[int, tuple[int, Any]] = {}  # phase and position of steps not yet known to be finite

    @property
    def may_skip(self) -> bool:
        """Whether a step may be left unused."""
        return self.scale is not None or self.on_nonfinite == "skip"

    def begin(self, state: TrainingState) -> None:
        """A step has been computed; `state` counts it, and its position is still the one before."""
        self._unchecked[state.step] = state.phase, state.position

    def skips(self, norm: Tensor, state: TrainingState) -> bool:
        """Whether the step's gradient is to be left unused. Waits for the device where it may be."""
        if not self.may_skip:
            return False
        is_finite = bool(torch.isfinite(norm))
        if self.scale is not None:
            self.scale.adapt(overflowed=not is_finite)
        if is_finite:
            state.skipped_in_a_row = 0
            return False
        state.skipped += 1
        state.skipped_in_a_row += 1
        if state.skipped_in_a_row > MOST_SKIPPED:
            raise self._error(state, state.step, f"and so were those of the {MOST_SKIPPED} steps before")
        if self.on_nonfinite == "skip":
            self._say(f"step {state.step:,} is skipped, its gradient is not finite{self._examples(state, state.step)}")
        return True

    def refuse(self, meter: Meter, state: TrainingState) -> None:
        """Raise NotFiniteError where a loss or gradient since the beginning was not finite. Waits for the device."""
        if (step := meter.bad_step()) is not None:
            raise self._error(state, step)
        self._unchecked.clear()

    def _error(self, state: TrainingState, step: int, more: str = "") -> NotFiniteError:
        with suppress(Exception):  # the one that is being written counts too
            self._checkpoints.finish()
        last = f"step {self._checkpoints.steps()[-1]}" if self._checkpoints.steps() else "none"
        return NotFiniteError(
            f"The loss or its gradient is not finite at step {step}{more and ', ' + more} (last checkpoint: {last})"
            f"{self._examples(state, step)}. A smaller optimizer.learning_rate, a longer schedule.warmup or "
            "trainer.precision=fp32 helps most often; trainer.on_nonfinite=skip passes over single steps."
        )

    def _examples(self, state: TrainingState, step: int) -> str:
        """Which examples a step was made of, as an addition to a sentence."""
        phase, position = self._unchecked.get(step, (-1, None))
        told = self._feed.examples(position) if phase == state.phase else ""
        return told and f"; it was fed {told}"
