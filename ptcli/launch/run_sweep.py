"""Running the jobs of a sweep by Hydra's sweeper and launcher; one that fails is told at once and ends no other."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from ptcli.command_line.quoting import Words, quote
from ptcli.config.compose import explained
from ptcli.config.context import Context
from ptcli.config.outside import brought
from ptcli.errors import PtcliError
from ptcli.launch.hydra_main import hydra_choices, hydra_main
from ptcli.launch.job import Result, run_job
from ptcli.launch.outcomes import Outcome, forget, outcomes, report, shown
from ptcli.launch.sweep import Sweep, check_sweep

INTERRUPTED, TERMINATED = 130, 143  # exit codes with which a job ends the sweep


def run_sweep(command: str, words: Words, overrides: Sequence[str], *, positional: Sequence[str]) -> int:
    """Check all jobs, run them, report; the exit code. Raises ConfigError before the first job has started."""
    sweep = check_sweep(command, overrides)
    settled = [word for word in overrides if not word.startswith("sweep.name=")] + [f"sweep.name={quote(sweep.name)}"]
    if not any(word.startswith("hydra.sweep.dir=") for word in overrides):
        settled.append(f"hydra.sweep.dir={quote(sweep.folder)}")
    task = _task(command, frozenset(word.split("=")[0] for word in words.overrides), tuple(positional), sweep)
    forget(Path(sweep.folder))
    print(
        f"sweep {sweep.name}: {len(sweep.jobs) or 'as many'} jobs{'' if sweep.jobs else ' as its sweeper asks for'}",
        file=sys.stderr,
    )
    try:
        with explained(root=command, overrides=overrides):
            hydra_main(task, command=command, words=[*words.flags, *settled])
    except (KeyboardInterrupt, SystemExit):
        done = [outcome for outcome in outcomes(Path(sweep.folder)) if outcome.status == "done"]
        print(f"the sweep was stopped with {len(done)} of {len(sweep.jobs)} jobs done", file=sys.stderr)
        raise
    return report(outcomes(Path(sweep.folder)), expected=len(sweep.jobs))


def _task(
    command: str, typed: frozenset[str], positional: tuple[str, ...], sweep: Sweep
) -> Callable[[DictConfig], float | None]:
    """What Hydra's launcher calls for each job, perhaps in another process. `typed`: the keys that the user changed."""
    full_error = os.environ.get("HYDRA_FULL_ERROR") == "1"  # the user's own, read before it is set for Hydra
    outside = brought()

    def task(config: DictConfig) -> float | None:
        from hydra.core.hydra_config import HydraConfig

        number = int(HydraConfig.get().job.num)
        overrides = [str(word) for word in HydraConfig.get().overrides.task if word.split("=")[0] in typed]
        name = f"job {number + 1} of {len(sweep.jobs)}" if sweep.jobs else f"job {number + 1}"
        _tell(f"{name}: {' '.join(shown(overrides, sweep.jobs))}")
        context = Context(command, positional, tuple(overrides), hydra_choices(), sweep.name, number, outside)
        result, why = _outcome(config, context, full_error=full_error)
        if isinstance(result, int) and result in (INTERRUPTED, TERMINATED):
            raise KeyboardInterrupt if result == INTERRUPTED else SystemExit(TERMINATED)
        status = "failed" if why else "done"
        value = result if isinstance(result, float) and not why else None
        Outcome(number, overrides, status, why, _run_folder(config), value).write(Path(sweep.folder))
        if why:
            _tell(f"{name} failed: {why}")
        return float("nan") if why else result

    return task


def _outcome(config: DictConfig, context: Context, *, full_error: bool) -> tuple[Result, str]:
    """The command's result, and why it failed where it did."""
    try:
        result = run_job(config, context)
    except Exception as error:
        if not isinstance(error, PtcliError) or full_error:
            traceback.print_exc()
        return None, str(error) if isinstance(error, PtcliError) else f"{type(error).__name__}: {error}"
    failed = isinstance(result, int) and result not in (0, INTERRUPTED, TERMINATED)
    return result, f"ended with exit code {result}" if failed else ""


def _run_folder(config: DictConfig) -> str:
    name = OmegaConf.select(config, "run.name")
    return str(Path(config.run.dir) / name) if name else ""


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
