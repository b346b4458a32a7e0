"""The one place where tests wait: for what happens in another process or thread, never for a number of seconds.

HANG ends a test that would wait forever. No result depends on it, so it is far longer than any test takes on a busy
machine.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

T = TypeVar("T")

HANG = 1200.0  # seconds
_LOOK = 0.01  # seconds between two looks


def until(happened: Callable[[], T], what: str, *, while_runs: subprocess.Popen | None = None) -> T:
    """Look again and again; what `happened` answers once that is true. `while_runs`: the process that makes it so."""
    begun = time.monotonic()
    while True:
        has_ended = while_runs is not None and while_runs.poll() is not None  # asked first: it may happen at the end
        if found := happened():
            return found
        if has_ended:
            raise AssertionError(f"the process ended with {while_runs.returncode} before {what}:\n{_rest(while_runs)}")
        if time.monotonic() - begun > HANG:
            raise AssertionError(f"{what}: did not happen")
        time.sleep(_LOOK)


def until_file(path: Path, text: str = "", *, while_runs: subprocess.Popen | None = None) -> None:
    """Wait until a file is there and holds `text`."""
    until(lambda: path.exists() and text in path.read_text(), f"{path.name} holds {text!r}", while_runs=while_runs)


def until_line(process: subprocess.Popen, text: str, stream: IO[str] | None = None) -> str:
    """Read what a process prints up to a line with `text`: all that was read. `stream`: stdout unless given."""
    stream, read = stream or process.stdout, ""
    assert stream is not None
    with _no_hang(process):
        for line in stream:
            read += line
            if text in line:
                return read
    process.kill()
    raise AssertionError(f"{text!r} did not come:\n{read}{_rest(process)}")


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Wait for the end of a process: its exit code and what it has printed since the last line that was read."""
    code, printed, _ = finish_all([process])[0]
    return code, printed


def finish_all(processes: Iterable[subprocess.Popen]) -> list[tuple[int, str, str]]:
    """Wait for the end of processes: exit code, stdout and stderr of each. None is left, whatever goes wrong."""
    processes = list(processes)
    try:
        printed = []
        for process in processes:
            with _no_hang(process):
                printed.append(process.communicate())
        return [(p.returncode, out or "", error or "") for p, (out, error) in zip(processes, printed, strict=True)]
    finally:
        for process in processes:
            process.kill()


def run(command: list[str], **options: Any) -> tuple[int, str, str]:
    """Run a command to its end: exit code, stdout and stderr."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True}
    return finish_all([subprocess.Popen(command, **(pipes | options))])[0]


def until_gone(processes: Iterable[int]) -> None:
    """Wait until processes have ended. (Linux: it looks at /proc.)"""
    processes = list(processes)
    until(lambda: not any(map(is_running, processes)), f"processes {processes} have ended")


def is_running(process: int) -> bool:
    """Whether a process is there and is not one that has ended and waits for its parent to notice."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end_of(thread: threading.Thread) -> None:
    """Wait until a thread has ended."""
    thread.join(HANG)
    assert not thread.is_alive()


def give_a_chance() -> None:
    """Pause, so that what must not happen would. A test that is right passes however long this takes."""
    time.sleep(0.1)


@contextmanager
def _no_hang(process: subprocess.Popen) -> Iterator[None]:
    """Kill a process that is waited for too long: what reads its output comes to the end."""
    timer = threading.Timer(HANG, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _rest(process: subprocess.Popen | None) -> str:
    """What an ended process has printed, as far as it was not read."""
    if process is None:
        return ""
    return "".join(text or "" for text in process.communicate())
