"""Where a run's steps come from: one loader, or several in phases that take turns at shares of the budget."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ptcli.trainer.state import TrainingState


class Loader(Protocol):
    """Optimiser steps for ever. A step has `micro_batches`, `counts`, `position` and `measured`.

    Where phases change what rows there are, it also has `begin_anew`; where a step's examples are to be named,
    `examples`.
    """

    def steps(self, position: Any, first_step: int) -> Iterator[Any]:
        """Steps from a data state on (None: the beginning), the first of them being number `first_step`."""
        ...


@dataclass(frozen=True)
class Phase:
    """A part of a run with a loader of its own.

    Args:
        loader: makes it, when the phase begins or a run goes on in it.
        until: the share of the budget at which the phase ends, in (0, 1].
        rows: what rows the loader visits; a phase with the same as the one before goes on at its place in them.
        rate: factor of the learning rate.
        operations: floating-point operations a token, forward and backward; None: not known.
        text: what the phase sets, for people.
    """

    loader: Callable[[], Loader]
    until: float = 1.0
    rows: Hashable = None
    rate: float = 1.0
    operations: float | None = None
    text: str = ""


class Feed:
    """Gives one optimiser step after the other. A change of phase is a function of the budget's share alone."""

    def __init__(self, phases: Sequence[Phase], *, say: Callable[[str], None]):
        assert phases and phases[-1].until == 1.0, "the last phase ends with the budget"
        self._phases, self._say = phases, say
        self._loader: Loader | None = None
        self._steps: Iterator[Any] | None = None

    def phase(self, state: TrainingState) -> Phase:
        """The phase that a state stands in."""
        return self._phases[min(state.phase, len(self._phases) - 1)]

    def next(self, state: TrainingState, share: float) -> Any:
        """The step behind `state`, at this share of the budget. Changes the state where a phase begins."""
        wanted = next((n for n, phase in enumerate(self._phases) if share < phase.until), len(self._phases) - 1)
        if self._steps is None or wanted != state.phase:
            self._open(state, wanted)
        assert self._steps is not None
        return next(self._steps)

    def _open(self, state: TrainingState, wanted: int) -> None:
        self.close()
        before, after = self.phase(state), self._phases[wanted]
        self._loader = loader = after.loader()
        if wanted != state.phase:
            if state.position is not None and before.rows != after.rows:
                # other rows: they begin anew, in an order of their own, and passes over the data are counted on
                state.position, passes = loader.begin_anew(state.position)  # type: ignore[attr-defined]
                state.passes_before = state.epoch - passes
            state.phase = wanted
            self._say(f"phase {wanted + 1} of {len(self._phases)} from step {state.step + 1:,}: {after.text}")
        self._steps = loader.steps(state.position, state.step)

    def examples(self, position: Any) -> str:
        """Which examples the step behind a data state is made of, in words; empty where the loader cannot say."""
        name = getattr(self._loader, "examples", None)
        return name(position) if name else ""

    def close(self) -> None:
        """End the loader's thread."""
        if self._steps is not None and hasattr(self._steps, "close"):
            self._steps.close()  # type: ignore[attr-defined]  (a generator)
        self._steps = None
