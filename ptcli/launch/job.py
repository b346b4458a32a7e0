"""One job of a command: the nets, the run's name, and the work."""

import logging
import sys
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.command import code_of
from ptcli.config.context import Context
from ptcli.config.fit import check
from ptcli.config.identity import run_name
from ptcli.config.scale import apply_scale
from ptcli.config.targets import check_plugins

Result = int | float | None


def run_job(config: DictConfig, context: Context) -> Result:
    """Nets 2 and 3, the run's name, and the work of the command."""
    plugins = check_plugins(config.plugins, context.overrides)
    if remark := apply_scale(config, context.choices, context.overrides):
        logging.getLogger(__name__).info(remark)
    check(config, context.choices, command=context.command, plugins=plugins)
    if OmegaConf.select(config, "run.name") is None and {"model", "task"} & context.choices.keys():
        config.run.name = run_name(config, context.choices)
    return code_of(context.command).run(config, context)


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
