import json
import math
from pathlib import Path
from typing import Any, TextIO

from ptcli.logger.logger import Metrics, Sink


class Jsonl(Sink):
    """Appends to `metrics.jsonl` in the run's folder: one object a log line, `step` first.

    What is no number (nothing measured, not-a-number, infinite) is null, which every reader of JSON takes.
    """

    def __init__(self) -> None:
        self._file: TextIO | None = None

    def start(self, *, folder: Path, name: str, group: str | None, config: dict[str, Any]) -> None:
        """Open the file; what is in it stays."""
        self._file = open(folder / "metrics.jsonl", "a", encoding="utf-8")  # noqa: SIM115 (closed by finish)

    def log(self, step: int, metrics: Metrics) -> None:
        """One line, handed to the system at once."""
        assert self._file is not None, "start comes first"
        values = {k: v if v is not None and math.isfinite(v) else None for k, v in metrics.items()}
        self._file.write(json.dumps({"step": step, **values}, allow_nan=False) + "\n")
        self._file.flush()

    def finish(self, status: str) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
