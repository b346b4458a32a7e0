"""Progress for whoever watches: a bar on a terminal, a plain line every so often anywhere else."""

import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from ptcli.logger.logger import Metrics, Sink


class Console(Sink):
    """Loss, accuracy, tokens/s and time left; evaluations and what is said stay on the screen.

    Without a terminal a line is written when `every` seconds have passed since the last one, at each evaluation and at
    the end. A closed pipe silences it; training goes on. NO_COLOR is kept, and a narrow terminal drops columns.
    """

    def __init__(self, *, every: float = 10.0):
        self._every = every
        self._last_line = -float("inf")
        self._share, self._seconds, self._begun = 0.0, 0.0, (0.0, 0.0)
        self._unsaid: list[str] = []  # the latest line of training, where it was not written yet
        self._bar: Any = None
        self._task: Any = None
        self._is_open = True
        self._has_begun = False

    def start(self, *, folder: Path, name: str, group: str | None, config: dict[str, Any]) -> None:
        """Say which run this is."""
        self.say(f"{name}: {folder}")

    def progress(self, *, step: int, share: float, seconds: float) -> None:
        """Move the bar."""
        if not self._has_begun:
            self._has_begun, self._begun = True, (share, seconds)
            if _is_terminal(sys.stdout):
                self._open_bar()
        self._share, self._seconds = share, seconds
        if self._bar is not None:
            self._bar.update(self._task, completed=share, step=f"step {step:,}", left=self._time_left())

    def log(self, step: int, metrics: Metrics) -> None:
        """The latest figures of training, or an evaluation in words."""
        if any(name.startswith("eval/") for name in metrics):
            self._say_training()
            self.say(evaluation_in_words(step, metrics))
            return
        words = training_in_words(metrics)
        if self._bar is not None:
            self._bar.update(self._task, figures=", ".join(words))
            return
        self._unsaid = [f"step {step:,} ({self._share:.0%})", *words, self._time_left()]
        if time.monotonic() - self._last_line >= self._every:
            self._say_training()

    def _say_training(self) -> None:
        if self._unsaid:
            self._last_line = time.monotonic()
            self.say(", ".join(part for part in self._unsaid if part))
            self._unsaid = []

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._is_open:
            return
        try:
            if self._bar is not None:
                self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
            else:
                print(text, flush=True)
        except (BrokenPipeError, ValueError):  # a pipe closed by its reader; a closed stream
            self._is_open = False
            # what Python flushes at its end would fail once more
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115

    def finish(self, status: str) -> None:
        """Take the bar down, or write the last line."""
        self._say_training()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open_bar(self) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn

        console = RichConsole()
        columns: list[Any] = [TextColumn("{task.fields[step]}"), BarColumn(bar_width=None)]
        if console.width >= 60:
            columns.append(TextColumn("{task.fields[figures]}"))
        if console.width >= 90:
            columns.append(TextColumn("{task.fields[left]}"))
        self._bar = Progress(*columns, console=console, refresh_per_second=4, expand=True)
        self._task = self._bar.add_task("train", total=1.0, step="", figures="", left="")
        self._bar.start()

    def _time_left(self) -> str:
        # from what this process did: an earlier one may have run on another machine
        share, seconds = self._share - self._begun[0], self._seconds - self._begun[1]
        if share <= 0 or seconds <= 0:
            return ""
        return f"{duration(seconds / share * (1 - self._share))} left"


def training_in_words(metrics: Metrics) -> list[str]:
    """["loss 5.43", "accuracy 12 %", "12,345 tokens/s"]: the first accuracy, the main objective's."""
    words = []
    if (loss := metrics.get("train/loss")) is not None:
        words.append(f"loss {loss:.3f}")
    accuracies = [v for k, v in metrics.items() if k.startswith("train/") and k.endswith("_accuracy")]
    if accuracies and accuracies[0] is not None:
        words.append(f"accuracy {accuracies[0]:.1%}")
    if (speed := metrics.get("train/tokens_per_second")) is not None:
        words.append(f"{speed:,.0f} tokens/s")
    return words


def evaluation_in_words(step: int, metrics: Metrics) -> str:
    """ "evaluation at step 100: masked lm loss 5.120, unigram loss 5.990, ..."; details go to the files alone."""
    parts = []
    for name, value in metrics.items():
        is_detail = name.count("/") > 1 or name.endswith("_per_character")
        if name.startswith("eval/") and value is not None and not is_detail:
            figure = f"{value:,.0f}" if name.endswith("tokens") else f"{value:.3f}"
            parts.append(f"{name.removeprefix('eval/').replace('_', ' ')} {figure}")
    return f"evaluation at step {step:,}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """ "45 s", "3 min 20 s", "2 h 05 min", "3 d 4 h"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    except ValueError:  # closed
        return False
