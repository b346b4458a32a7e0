"""`ptcli reproduce RUN`: the first steps of a run once more, in a temporary place, and whether they are equal bits."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import MISSING, DictConfig

from ptcli.config.bind import bind
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.identity import read
from ptcli.config.root import Root
from ptcli.errors import CheckpointError, ConfigError
from ptcli.logger.logger import TIMING_FIELDS


@dataclass
class ReproduceRoot(Root):
    """Types of conf/reproduce.yaml."""

    checkpoint: str | None = None
    steps: int = MISSING


COMMAND = Command(
    __name__,
    "take the first steps of a run once more, and say whether they are bitwise equal",
    root=ReproduceRoot,
    words="a run folder",
    examples=("ptcli reproduce runs/NAME", "ptcli reproduce runs/NAME steps=5"),
)

_SHOWN = 3  # metrics that differ


def run(config: DictConfig, context: Context) -> int:
    """Print what is equal, or the first that is not; 0 where everything is, else 1."""
    from ptcli.pretraining.pretraining import train_steps
    from ptcli.run.find import find_folder
    from ptcli.trainer.first_steps import read_record

    named = [*context.words, *([config.checkpoint] if config.checkpoint else [])]
    if len(named) != 1:
        raise ConfigError("name one run folder: ptcli reproduce runs/NAME")
    folder = find_folder(named[0])
    plugins = tuple(config.plugins)
    there, remarks = read(folder / "config.yaml", plugins=plugins)
    record = read_record(folder)
    there.plugins = list(plugins)
    bind(there, plugins=plugins)
    for remark in remarks:
        print(remark)
    lines = _training_lines(folder)
    steps = min(config.steps, max([*map(int, record["steps"]), *lines]))
    with tempfile.TemporaryDirectory(prefix="ptcli-reproduce-") as place:
        again = train_steps(_alone(there, place, threads=record["made_on"]["threads"]), context, steps=steps)
        return _compare(record, read_record(again), lines, _training_lines(again), folder=folder, steps=steps)


def _alone(config: DictConfig, place: str, *, threads: int) -> DictConfig:
    """The run's configuration in another place, with nothing in it that weights do not depend on."""
    config.run = {"dir": place, "name": "again"}
    config.logger, config.resume, config.save.every = {}, "auto", 0
    config.trainer.update({"threads": threads, "patience": None, "profile": False})
    return config


def _compare(
    there: dict[str, Any],
    here: dict[str, Any],
    lines_there: dict[int, dict[str, Any]],
    lines_here: dict[int, dict[str, Any]],
    *,
    folder: Path,
    steps: int,
) -> int:
    from ptcli.trainer.first_steps import first_difference

    if other := [name for name in there["made_on"] if there["made_on"][name] != here["made_on"].get(name)]:
        told = ", ".join(f"{name} {there['made_on'][name]} there, {here['made_on'].get(name)} here" for name in other)
        print(f"made elsewhere ({told}): equal bits are not promised")
    if there["corpus"] != here["corpus"]:
        print(f"the tokenised corpus is another than that of {folder}: a file or the tokenizer has changed")
        return 1
    compared = [step for step in there["steps"] if int(step) <= steps]
    for step in compared:
        digests, own = there["steps"][step], here["steps"][step]
        if name := first_difference(digests, own):
            number = sum(digests.get(key) != own.get(key) for key in digests | own)
            print(f"not equal after step {step}: {name} is the first of {number} tensors (of {len(own)}) that differ")
            return 1
    for step in (step for step in sorted(lines_there) if step <= steps):
        line, own_line = lines_there[step], lines_here.get(step, {})
        if differing := [name for name in line if line[name] != own_line.get(name)]:
            told = ", ".join(f"{name} {line[name]} there, {own_line.get(name)} here" for name in differing[:_SHOWN])
            print(f"the weights are equal, but what was logged at step {step} is not: {told}")
            return 1
    print(f"bitwise equal: {steps:,} steps, all weights after {' and '.join(compared) or 'none'}, every logged figure")
    return 0


def _training_lines(folder: Path) -> dict[int, dict[str, Any]]:
    """What a run logged of its training, by step, without what the clock decides."""
    try:
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder / 'metrics.jsonl'} cannot be read: {error}") from error
    return {
        line["step"]: {name: value for name, value in line.items() if name not in TIMING_FIELDS}
        for line in lines
        if "train/loss" in line
    }
