"""Fine-tuning as a configuration asks for it: one task, several on one encoder, or folds."""

from pathlib import Path

from omegaconf import DictConfig

from ptcli.config.context import Context
from ptcli.finetuning.checks import check_fine_tuning, shape_of
from ptcli.finetuning.data import read_task
from ptcli.finetuning.folds import run_folds
from ptcli.finetuning.several_tasks import run_several
from ptcli.finetuning.single import fine_tune_one
from ptcli.run.folder import RunFolder
from ptcli.run.job import Result
from ptcli.task.multi import Multi


def fine_tune(config: DictConfig, context: Context) -> Result:
    """Fine-tune, or go on with it; the best value of the task's metric, or an exit code where a signal stopped it."""
    path = Path(config.run.dir) / config.run.name
    is_finished, plugins = RunFolder(path).status == "finished", tuple(config.plugins)
    task, trainer = check_fine_tuning(
        config, model=lambda: None if is_finished else shape_of(config.checkpoint, plugins=plugins)
    )
    if trainer.devices > trainer.ranks.size:
        from ptcli.launch.launcher import launch

        return launch(config, context, devices=trainer.devices)  # each rank comes here again
    if isinstance(task, Multi):
        return run_several(config, context, path, task)
    if config.folds is not None:
        return run_folds(config, context, path, task)
    return fine_tune_one(config, context, path, task, lambda: read_task(task, seed=config.seed))
