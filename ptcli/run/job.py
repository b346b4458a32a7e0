"""One job: what a run is told, where it writes, and what trains it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.context import Context
from ptcli.config.identity import resolve
from ptcli.logger.console import Console
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger, Sink
from ptcli.run.begin import begin, left_unless_begun
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget
from ptcli.trainer.signals import Interrupted
from ptcli.trainer.trainer import Trainer
from ptcli.trainer.training import Every

Result = float | int | None
"""A metric's value, or an exit code where a signal stopped the run."""


@dataclass(frozen=True)
class Job:
    """What the training of one run works with."""

    config: DictConfig
    context: Context
    folder: RunFolder
    logger: Logger
    trainer: Trainer
    budget: Budget

    @property
    def micro_size(self) -> int:
        """Rows that go through the model of each device at once."""
        return self.trainer.micro_size(self.config.batch.size, self.config.batch.micro_size)

    @property
    def plugins(self) -> tuple[str, ...]:
        """The user's packages."""
        return tuple(self.config.plugins)

    def every(self, *, evaluate: float, save: float) -> Every:
        """How often something happens on the way."""
        log, keep = self.config.log, self.config.save.keep
        return Every(log=log.every, norms=log.norms, evaluate=evaluate, save=save, keep=keep)


def budget_of(config: DictConfig) -> Budget:
    """How long is trained."""
    return Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]


def do_job(
    config: DictConfig,
    context: Context,
    path: Path,
    work: Callable[[Job], float | None],
    *,
    finished: Callable[[dict[str, Any]], float | None],
) -> Result:
    """Do `work` in the run folder `path`; where nothing is left to do, what `finished` reads in its summary."""
    trainer, budget = part(config, "trainer"), budget_of(config)
    sinks: list[Sink] = [Console(), Jsonl(), *(part(config, f"logger.{name}") for name in config.logger or {})]
    with RunFolder(path) as folder:
        if summary := begin(folder, config, context, budget):
            return finished(summary)
        with left_unless_begun(folder), Logger(sinks) as logger:
            logger.start(folder=folder.path, name=path.name, group=context.sweep, config=resolve(config))
            try:
                return work(Job(config, context, folder, logger, trainer, budget))
            except Interrupted as stopped:
                logger.say(str(stopped))
                logger.finish("interrupted")
                return stopped.exit_code


def silent_job(config: DictConfig, context: Context, path: Path) -> Job:
    """The same job on a rank that follows rank 0, which holds the folder's lock and alone speaks and writes."""
    return Job(config, context, RunFolder(path), Logger([]), part(config, "trainer"), budget_of(config))
