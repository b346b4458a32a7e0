"""From the words behind a command to the command's `run`, through Hydra and the nets. Returns the exit code."""

import importlib
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.compose import explained, settle
from ptcli.config.context import Context
from ptcli.config.fit import check
from ptcli.config.hydra_main import hydra_choices, hydra_main
from ptcli.config.identity import run_name
from ptcli.config.provenance import asks_for_provenance, provenance
from ptcli.config.quoting import Words
from ptcli.config.scale import apply_scale
from ptcli.config.targets import check_plugins

Result = int | float | None


def run(command: str, words: Sequence[str], *, root: str, positional: Sequence[str] = ()) -> int:
    """Run one command, or with -m all jobs of a sweep. Raises ConfigError for what can be known before work."""
    typed = Words(words, root=root)
    overrides = settle(typed.overrides)
    speak()
    if asks_for_provenance(typed.flags):
        print(provenance(command, typed, overrides, root=root))
        return 0
    if typed.sweeps:
        from ptcli.config.run_sweep import run_sweep

        return run_sweep(command, typed, overrides, root=root, positional=positional)
    ended: list[Result | Exception] = []

    def task(config: DictConfig) -> None:
        context = Context(command, tuple(positional), tuple(typed.typed), hydra_choices())
        try:
            ended.append(run_job(config, context))
        except Exception as error:  # told by the caller: Hydra would print its own words first
            ended.append(error)

    with explained(root=root, command=command, overrides=overrides):
        hydra_main(task, root=root, command=command, words=[*typed.flags, *overrides])
    result = ended[0] if ended else None
    if isinstance(result, Exception):
        raise result
    return result if isinstance(result, int) else 0


def run_job(config: DictConfig, context: Context) -> Result:
    """Nets 2 and 3, the run's name, and the work of the command."""
    plugins = check_plugins(config.plugins, context.overrides)
    if remark := apply_scale(config, context.choices, context.overrides):
        logging.getLogger(__name__).info(remark)
    check(config, context.choices, command=context.command, plugins=plugins)
    if OmegaConf.select(config, "run.name") is None and {"model", "task"} & context.choices.keys():
        config.run.name = run_name(config, context.choices)
    work: Callable[[DictConfig, Context], Result] = importlib.import_module(f"ptcli.command.{context.command}").run
    return work(config, context)


def speak() -> None:
    """What ptcli's modules log goes to the terminal as plain lines; other libraries only warn."""
    logger = logging.getLogger("ptcli")
    if not logger.handlers:
        handler = _Stderr()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


class _Stderr(logging.StreamHandler):
    """Writes to what sys.stderr is at that moment."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        pass
