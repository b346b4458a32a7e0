"""Ctrl-C and SIGTERM: the step in progress is finished and saved; a second Ctrl-C leaves at once."""

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupted(KeyboardInterrupt):
    """Training stopped because a signal asked for it. `exit_code`: 130 after Ctrl-C, 143 after SIGTERM.

    A KeyboardInterrupt, so that a sweep ends with it instead of going on with the next job.
    """

    def __init__(self, message: str, *, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


class _Now(BaseException):
    """Raised by a handler inside `unless_stopped`; never leaves it."""


class StopSignals:
    """While entered, SIGINT and SIGTERM set `requested` in place of ending the process. Handlers are restored.

    Outside the main thread Python allows no handlers; then nothing changes.
    """

    def __init__(self) -> None:
        self.requested: int | None = None  # number of the signal
        self._raises = False
        self._before: dict[int, Any] = {}

    @property
    def exit_code(self) -> int:
        """What the process ends with: 128 + the signal's number."""
        assert self.requested is not None
        return 128 + self.requested

    def __enter__(self) -> "StopSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _handle(self, number: int, frame: Any) -> None:
        is_second = self.requested is not None
        self.requested = self.requested or number
        if is_second and number == signal.SIGINT:
            raise KeyboardInterrupt
        if self._raises:
            self._raises = False
            raise _Now

    def unless_stopped(self, function: Callable[[], T]) -> T | None:
        """`function()`, broken off by a signal: None when one came before it or during it.

        For what is long, changes nothing and can be done again, as an evaluation.
        """
        try:
            self._raises = True
            try:
                return function() if self.requested is None else None
            finally:
                self._raises = False
        except _Now:
            return None
