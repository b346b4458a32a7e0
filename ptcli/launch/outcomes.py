"""What became of each job of a sweep, written beside the sweep, so that jobs in other processes are known too."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev

_NOT_TOLD = ("seed=", "run.name=")  # of jobs that are the same otherwise


def shown(job: Sequence[str], jobs: Sequence[Sequence[str]]) -> list[str]:
    """The overrides of a job that not every job shares; all of them where there is only one job."""
    shared = set(jobs[0]).intersection(*jobs[1:]) if len(jobs) > 1 else set()
    return [word for word in job if word not in shared] or list(job)


@dataclass(frozen=True)
class Outcome:
    """What became of one job. `value`: of the metric that it is judged by; None where it has none."""

    job: int
    overrides: list[str]
    status: str  # done or failed
    why: str = ""
    folder: str = ""
    value: float | None = None

    def write(self, folder: Path) -> None:
        """Save as `<folder>/job-<number>.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"job-{self.job}.json").write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")


def forget(folder: Path) -> None:
    """Remove the outcomes of an earlier sweep of this name."""
    for path in folder.glob("job-*.json"):
        path.unlink()


def outcomes(folder: Path) -> list[Outcome]:
    """The outcomes found, by job number."""
    found = [Outcome(**json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("job-*.json")]
    return sorted(found, key=lambda outcome: outcome.job)


def spread(found: Sequence[Outcome]) -> list[str]:
    """Mean and standard deviation of the values of jobs that differ in their seed alone, a line each, in order.

    Nothing where there is but one value.
    """
    valued = [outcome for outcome in found if outcome.value is not None]
    if len(valued) < 2:
        return []
    everyone = [outcome.overrides for outcome in found]
    values: dict[str, list[float]] = {}
    for outcome in valued:
        words = [word for word in shown(outcome.overrides, everyone) if not word.startswith(_NOT_TOLD)]
        values.setdefault(" ".join(words), []).append(outcome.value or 0.0)
    return [f"{words or 'all jobs'}: {_told(some)}" for words, some in values.items()]


def _told(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.4f}"
    return (
        f"mean {mean(values):.4f}, standard deviation {stdev(values):.4f}, "
        f"{min(values):.4f} to {max(values):.4f} over {len(values)} jobs"
    )


def report(found: Sequence[Outcome], *, expected: int) -> int:
    """Print what jobs that differ in more than their seed are worth, how many are done and why others are not.

    Returns the exit code of the sweep.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True)
    failed = [outcome for outcome in found if outcome.status != "done"]
    missing = max(expected - len(found), 0)
    for line in spread(found):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if not failed and not missing:
        console.print(f"{len(found)} of {max(expected, len(found))} jobs done", highlight=False)
        return 0
    total = max(expected, len(found))
    table = Table(title=f"{len(failed) + missing} of {total} jobs failed", title_justify="left", show_lines=False)
    for column in ("job", "overrides", "why", "folder"):
        table.add_column(column, overflow="fold")
    everyone = [outcome.overrides for outcome in found]
    for outcome in failed:
        words = " ".join(shown(outcome.overrides, everyone))
        table.add_row(str(outcome.job + 1), _literal(words), _literal(outcome.why), _literal(outcome.folder))
    if missing:
        table.add_row("", "", f"{missing} ended without a word", "")
    console.print(table)
    return 1


def _literal(text: str) -> str:
    from rich.markup import escape

    return escape(text)
