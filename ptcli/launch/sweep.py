"""Sweeps (-m): all jobs are composed and pass the nets before the first starts."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omegaconf import OmegaConf

from ptcli.config.command import find
from ptcli.config.compose import Composed, composer
from ptcli.config.fit import check
from ptcli.config.identity import plain, run_name
from ptcli.config.scale import apply_scale
from ptcli.config.several_tasks import name_of_task
from ptcli.config.targets import check_plugins
from ptcli.errors import ConfigError
from ptcli.launch.outcomes import shown

_LONGEST_NAME = 60


@dataclass(frozen=True)
class Sweep:
    """A sweep that has passed the nets. `jobs`: the overrides of each; empty where the sweeper chooses as it goes."""

    name: str
    folder: str  # where Hydra's own files and the outcomes of jobs go
    jobs: list[list[str]]


def jobs_of(overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each job, in the order in which Hydra's basic sweeper runs them. Inside an open composer."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    loader = GlobalHydra.instance().config_loader()
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(overrides))
    task = [override for override in parsed if not _is_hydras(override.input_line or "")]
    return [list(job) for job in BasicSweeper.split_arguments(task, None)[0]]


def check_sweep(command: str, overrides: Sequence[str], *, folder: Path | None = None) -> Sweep:
    """Compose every job and put it through the nets. Raises ConfigError, naming the job, before any has started.

    With a sweeper that chooses its jobs as it goes (Optuna), only what all jobs share can be checked.
    """
    record = find(command)
    makes_runs = record is not None and record.trains
    with composer(command, folder=folder) as compose:
        jobs = jobs_of(overrides) if _is_basic(overrides) else []
        seen: dict[str, int] = {}
        for number, job in enumerate(jobs):
            try:
                composed = compose(job)
                plugins = check_plugins(composed.config.plugins, job)
                apply_scale(composed.config, composed.choices, job)
                check(composed.config, composed.choices, command=command, plugins=plugins, folder=folder)
                _refuse_twin(number, jobs, composed, seen, makes_runs=makes_runs)
            except ConfigError as error:
                where = f"job {number + 1} of {len(jobs)} ({' '.join(shown(job, jobs))}): " if len(jobs) > 1 else ""
                raise ConfigError(f"{where}{error}") from error
        shared = compose(
            jobs[0] if jobs else [word for word in overrides if word.startswith(("run.dir=", "sweep.name="))]
        )
    name = shared.config.sweep.name or sweep_name(overrides)
    return Sweep(name, str(Path(shared.config.run.dir).absolute() / ".sweeps" / name), jobs)


def _refuse_twin(
    number: int, jobs: list[list[str]], composed: Composed, seen: dict[str, int], *, makes_runs: bool
) -> None:
    if makes_runs:
        place = Path(composed.config.run.dir) / run_name(composed.config, composed.choices)
        if "model" in composed.choices and OmegaConf.select(composed.config, "task") is not None:
            # a pretraining: each task is fine-tuned in a folder of its own there
            place /= plain(name_of_task(composed.choices))
        key = str(place)
    else:
        key = json.dumps(OmegaConf.to_container(composed.config, resolve=True), sort_keys=True)
    first = seen.setdefault(key, number)
    if first == number:
        return
    if jobs[first] == jobs[number]:
        raise ConfigError(f"the same as job {first + 1}. Write each value once")
    raise ConfigError(
        f"would use the folder of job {first + 1} ({key}), because what differs does not make a different run. "
        "Give names that differ, such as run.name='run-${budget.steps}'"
    )


def sweep_name(overrides: Sequence[str]) -> str:
    """The same name for the same sweep: the keys that are swept and 8 hex digits of everything typed."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = OverridesParser.create().parse_overrides(list(overrides))
    swept = [o.get_key_element().lstrip("+~").split(".")[-1] for o in parsed if o.is_sweep_override()]
    digest = hashlib.blake2b("\n".join(sorted(overrides)).encode(), digest_size=4).hexdigest()
    return f"{plain('-'.join(swept) or 'sweep')[:_LONGEST_NAME]}-{digest}"


def _is_hydras(word: str) -> bool:
    return word.lstrip("+~").startswith(("hydra.", "hydra/"))


def _is_basic(overrides: Sequence[str]) -> bool:
    return not any(
        word.lstrip("+").startswith(("hydra/sweeper=", "hydra.sweeper.")) and not word.endswith("=basic")
        for word in overrides
    )
