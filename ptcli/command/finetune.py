"""`ptcli finetune`: a pretrained model and the rows of a task to a model that answers, read top to bottom."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from ptcli.config.context import Context
from ptcli.finetuning import single
from ptcli.finetuning.checks import check_fine_tuning, shape_of
from ptcli.finetuning.data import read_task
from ptcli.finetuning.single import fine_tune
from ptcli.launch.environment import is_one_of_several
from ptcli.run.folder import RunFolder
from ptcli.task.multi import Multi
from ptcli.trainer.ranks import current


def run(config: DictConfig, context: Context) -> float | int | None:
    """Fine-tune, or go on with it; the best value of the task's metric, or an exit code where a signal stopped it."""
    if is_one_of_several() and current().size == 1:  # started by a launcher of Hydra's, which calls this on each rank
        from ptcli.launch.group import lead_or_follow

        return lead_or_follow(lambda: run(config, context))
    path = Path(config.run.dir) / config.run.name
    is_finished, plugins = RunFolder(path).status == "finished", tuple(config.plugins)
    task, trainer = check_fine_tuning(
        config, model=lambda: None if is_finished else shape_of(config.checkpoint, plugins=plugins)
    )
    if trainer.devices > trainer.ranks.size:
        from ptcli.launch.launcher import launch

        return launch(config, context, devices=trainer.devices)  # each rank comes here again
    if isinstance(task, Multi):
        from ptcli.finetuning.several_tasks import run_several

        return run_several(config, context, path, task)
    if config.folds is not None:
        from ptcli.finetuning.folds import run_folds

        return run_folds(config, context, path, task)
    return fine_tune(config, context, path, task, lambda: read_task(task, seed=config.seed))


def follow(config: DictConfig, context: Context, job: dict[str, Any]) -> None:
    """Train with rank 0, which has begun with `run` and says in `job` where and on which rows."""
    single.follow(config, context, path=Path(job["path"]), fold=job["fold"])
