"""`trainer.devices=N`: one command starts its own ranks on this host, with torch's elastic agent."""

import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from ptcli.config.context import Context
from ptcli.config.identity import resolve
from ptcli.errors import CheckpointError, ConfigError, DataError, PtcliError
from ptcli.run.folder import RunFolder

_GRACE = 60  # seconds in which ranks that were told to stop may save
_TOLD = {error.__name__: error for error in (ConfigError, DataError, CheckpointError)}


class RankFailedError(PtcliError):
    """A rank ended in the middle of its work."""


def launch(config: DictConfig, context: Context, *, devices: int) -> float | int | None:
    """Do a job on `devices` ranks; what rank 0 makes of it, or an exit code where a signal stopped it.

    Raise the error of the rank that failed first, with its number.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    parent = Path(config.run.dir) / ".ranks"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{config.run.name}-", dir=parent.absolute()))
    job = {"config": resolve(config), "context": asdict(context)}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    settings = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=devices,
        run_id=folder.name,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        local_addr="localhost",
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(log_dir=str(folder), redirects=dict.fromkeys(range(1, devices), Std.ALL)),
        signals_to_handle="SIGTERM,SIGINT",
        shutdown_timeout=_GRACE,
    )
    code = 0
    with _quiet_agent(), _same_signals():
        try:
            elastic_launch(settings, sys.executable)("-u", "-m", "ptcli.launch.worker", str(folder))
        except ChildFailedError as error:
            exit_codes = {rank: one.exitcode for rank, one in error.failures.items()}
            try:
                code = _code_or_error(folder, exit_codes, devices)
            except RankFailedError as failure:
                _write_down(RunFolder(Path(config.run.dir) / config.run.name), failure)
                raise
        except SignalException as stopped:
            code = 128 + int(stopped.sigval)
        finally:
            _kill_rest(folder)
            outcome = _outcome(folder)
            if not any(folder.glob("rank-*")):  # a traceback stays
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                parent.rmdir()  # unless another run's ranks have theirs there
    return outcome[0] if outcome else code


def _outcome(folder: Path) -> list[Any]:
    """What rank 0 made of the job, as a list of one; empty where it did not come to an end."""
    result = folder / "result.json"
    return [json.loads(result.read_text(encoding="utf-8"))] if result.exists() else []


def _code_or_error(folder: Path, exit_codes: Mapping[int, int], devices: int) -> int:
    """The exit code of ranks that a signal stopped before they trained; else raise the error that came first.

    A rank that fails takes the others with it. An error of its own comes before a kill, and a kill before what the
    others saw of it.
    """
    stories: dict[int, dict[str, Any]] = {}
    for rank in sorted(exit_codes):
        with suppress(FileNotFoundError):
            stories[rank] = json.loads((folder / f"failure-{rank}.json").read_text(encoding="utf-8"))
    for rank, story in stories.items():
        if not story["is_consequence"]:
            raise _error(rank, story, folder, devices)
    stops = (-signal.SIGTERM, -signal.SIGINT)
    for rank, code in exit_codes.items():
        if code < 0 and code not in stops:
            raise RankFailedError(
                f"rank {rank} of {devices} was ended by {signal.Signals(-code).name}"
                + (", which is what happens when memory runs out" if code == -signal.SIGKILL else "")
                + ". Checkpoints are whole: the same command goes on from the last one."
            )
    for rank, story in stories.items():
        raise _error(rank, story, folder, devices)
    code = next(iter(exit_codes.values()))
    if code in stops:
        return 128 - code
    raise RankFailedError(f"rank {next(iter(exit_codes))} of {devices} ended with exit code {code}. See {folder}.")


def _error(rank: int, story: dict[str, Any], folder: Path, devices: int) -> PtcliError:
    if story["is_told"]:
        prefix = "" if rank == 0 else f"rank {rank} of {devices}: "
        return _TOLD.get(story["kind"], PtcliError)(prefix + story["message"])
    trace = folder / f"rank-{rank}-traceback.txt"
    trace.write_text(story["traceback"], encoding="utf-8")
    text = f"rank {rank} of {devices} failed: {story['kind']}: {story['message']}"
    return RankFailedError(f"{text}\nIts traceback: {trace}")


def _write_down(run: RunFolder, failure: RankFailedError) -> None:
    """In place of what rank 0 saw of it, which is that another was gone; or of nothing, where rank 0 was killed."""
    if run.status in ("running", "failed"):
        run.write_summary(status="failed", error=str(failure))


def _kill_rest(folder: Path) -> None:
    """After a second signal, ranks may still be there."""
    for file in folder.glob("process-*"):
        with suppress(OSError, ValueError):
            os.kill(int(file.read_text(encoding="utf-8")), signal.SIGKILL)


@contextmanager
def _quiet_agent() -> Iterator[None]:
    """What the agent says of its ranks is told in our words."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch.distributed.elastic")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Put handlers of signals back that the agent replaces."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):  # not the main thread: nothing was replaced
                signal.signal(number, handler)
