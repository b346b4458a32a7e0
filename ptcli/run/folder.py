"""A run's folder: one process at a time, and a summary of how it went."""

import fcntl
import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from ptcli.errors import ConfigError
from ptcli.files import remove_temporary, sync, to_json, write_whole

_LOCK = ".lock"


class RunFolder:
    """`runs/<name>/`, made and locked on entry (`with RunFolder(path) as run:`), unlocked on exit.

    The lock belongs to the process: one that dies, however, leaves it free. A folder in which nothing was begun is
    removed on exit.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock: int | None = None

    @property
    def metrics(self) -> Path:
        """One JSON object a log line."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        """Folder of the finished model."""
        return self.path / "model"

    def __enter__(self) -> "RunFolder":
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise ConfigError(
                f"The run folder {self.path} cannot be made or written: {error.strerror}. "
                "Type run.dir=FOLDER for another place."
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(lock)
            raise ConfigError(
                f"{self.path} is in use by {holder}. Wait for it, or type run.name=NAME for a folder of its own."
            ) from None
        except OSError as error:
            os.close(lock)
            raise ConfigError(
                f"{self.path} lies on a file system without locks ({error.strerror}), so that two processes could "
                "write into it at once. Type run.dir=FOLDER for another place."
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        self._lock = lock
        remove_temporary(self.path)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._lock is not None:
            with suppress(OSError):
                if [path.name for path in self.path.iterdir()] == [_LOCK]:  # nothing was begun in it
                    (self.path / _LOCK).unlink()
                    self.path.rmdir()
            os.ftruncate(self._lock, 0)
            os.close(self._lock)  # which unlocks
            self._lock = None

    def summary(self) -> dict[str, Any]:
        """What summary.json holds; empty before the first write."""
        try:
            return json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise ConfigError(f"{self.path / 'summary.json'} is no JSON ({error}). Remove it.") from error

    @property
    def status(self) -> str | None:
        """running, finished, interrupted or failed; None for a new run. A killed run still says running."""
        return self.summary().get("status")

    def write_summary(self, **values: Any) -> None:
        """Set these entries of summary.json, keep the others."""
        write_whole(self.path / "summary.json", to_json(self.summary() | values))

    def cut_metrics(self, length: int) -> None:
        """Cut metrics.jsonl back to the `length` bytes it had at a checkpoint, so that each step stands once."""
        if self.metrics.exists() and self.metrics.stat().st_size > length:
            os.truncate(self.metrics, length)

    def metrics_length(self) -> int:
        """Bytes of metrics.jsonl so far."""
        return self.metrics.stat().st_size if self.metrics.exists() else 0

    def sync_metrics(self) -> None:
        """Wait until metrics.jsonl is on the disk."""
        if self.metrics.exists():
            sync(self.metrics)

    def begin(self, resume: str = "auto") -> Path | None:
        """Make the folder ready for `resume`, before anything is written into it.

        auto: go on where there is a checkpoint. must: raise ConfigError where there is none. never: move what an
        earlier run left into `previous-1/`, `previous-2/`, ..., and return that folder.
        """
        if resume not in ("auto", "must", "never"):
            raise ConfigError(f"resume={resume}: choose auto, must or never.")
        if resume == "must" and not any(self.checkpoints.glob("step-*")):
            raise ConfigError(f"resume=must: {self.path} holds no checkpoint to go on from. Type resume=auto to begin.")
        if resume == "never":
            return self._put_aside()
        return None

    def _put_aside(self) -> Path | None:
        old = [p for p in self.path.iterdir() if p.name != _LOCK and not p.name.startswith("previous-")]
        if not old:
            return None
        number = 1
        while (self.path / f"previous-{number}").exists():
            number += 1
        aside = self.path / f"previous-{number}"
        aside.mkdir()
        for path in old:
            path.rename(aside / path.name)
        return aside
