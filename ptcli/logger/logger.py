"""Where metrics go: a list of sinks, each called in order. Console and jsonl are always on; `logger=` adds others."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Metrics = Mapping[str, float | None]  # by name ("train/loss"); None where there was nothing to measure

TIMING_FIELDS = frozenset(
    f"train/{name}" for name in ("tokens_per_second", "seconds", "data_wait", "mfu", "memory_gib", "power_watts")
)
"""What may differ between two runs that are otherwise bitwise equal."""


class Sink:
    """One place that metrics go to. Every method does nothing here; a sink overrides what it wants."""

    def start(self, *, folder: Path, name: str, group: str | None, config: dict[str, Any]) -> None:
        """Called once, before anything else. `config`: plain and nested; `group`: the sweep's name."""

    def progress(self, *, step: int, share: float, seconds: float) -> None:
        """After each optimiser step: the share of the budget behind, in [0, 1], and the seconds trained so far."""

    def log(self, step: int, metrics: Metrics) -> None:
        """A log line (train/...) or an evaluation (eval/...)."""

    def say(self, text: str) -> None:
        """A sentence for whoever watches."""

    def summary(self, values: Mapping[str, Any]) -> None:
        """The run's end in figures."""

    def finish(self, status: str) -> None:
        """Called once, at the end: finished, interrupted or failed."""


class Logger:
    """Calls its sinks in order. A context manager: leaving it finishes every sink, whatever happened.

    An error that it is left with is not hidden by one of a sink that cannot finish.
    """

    def __init__(self, sinks: Sequence[Sink]):
        self._sinks = list(sinks)
        self._is_finished = False

    def start(self, *, folder: Path, name: str, group: str | None = None, config: dict[str, Any] | None = None) -> None:
        """Tell every sink what run this is. `folder`: the run's folder, made and locked."""
        for sink in self._sinks:
            sink.start(folder=folder, name=name, group=group, config=config or {})

    def progress(self, *, step: int, share: float, seconds: float) -> None:
        """See `Sink.progress`."""
        for sink in self._sinks:
            sink.progress(step=step, share=share, seconds=seconds)

    def log(self, step: int, metrics: Metrics) -> None:
        """See `Sink.log`."""
        for sink in self._sinks:
            sink.log(step, metrics)

    def say(self, text: str) -> None:
        """See `Sink.say`."""
        for sink in self._sinks:
            sink.say(text)

    def summary(self, values: Mapping[str, Any]) -> None:
        """See `Sink.summary`."""
        for sink in self._sinks:
            sink.summary(values)

    def finish(self, status: str) -> None:
        """Finish every sink, also when one of them fails; a second call does nothing."""
        if self._is_finished:
            return
        self._is_finished = True
        failure: Exception | None = None
        for sink in self._sinks:
            try:
                sink.finish(status)
            except Exception as error:  # the others are to be finished all the same
                failure = failure or error
        if failure is not None:
            raise failure

    def __enter__(self) -> "Logger":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.finish("finished")
        else:
            with suppress(Exception):  # the first error is the one to be told
                self.finish("failed" if issubclass(kind, Exception) else "interrupted")
