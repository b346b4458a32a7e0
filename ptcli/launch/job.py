"""One job of a command: the nets, the run's name, and the work."""

import logging
import sys
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.command import code_of
from ptcli.config.context import Context
from ptcli.config.fit import check
from ptcli.config.identity import run_name
from ptcli.config.outside import bring
from ptcli.config.scale import apply_scale
from ptcli.config.targets import check_plugins
from ptcli.launch.environment import is_one_of_several

Result = int | float | None


def run_job(config: DictConfig, context: Context) -> Result:
    """Nets 2 and 3, the run's name, and the work of the command."""
    with bring(context.outside):  # a launcher of Hydra's calls this in another process
        return _run_job(config, context)


def _run_job(config: DictConfig, context: Context) -> Result:
    plugins = check_plugins(config.plugins, context.typed)
    if remark := apply_scale(config, context.choices, context.overrides):
        logging.getLogger(__name__).info(remark)
    check(config, context.choices, command=context.command, plugins=plugins)
    if OmegaConf.select(config, "run.name") is None and {"model", "task"} & context.choices.keys():
        config.run.name = run_name(config, context.choices)
    code = code_of(context.command)
    if code.COMMAND.trains and is_one_of_several():
        from ptcli.trainer.ranks import current

        if current().size == 1:  # started by a launcher of Hydra's, which calls this on each rank
            from ptcli.launch.group import lead_or_follow

            return lead_or_follow(lambda: code.run(config, context))
    return code.run(config, context)


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
