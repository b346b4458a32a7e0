"""`ptcli finetune`: a pretrained model and the rows of a task to a model that answers, read top to bottom."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING, DictConfig

from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.root import TrainingRoot
from ptcli.launch.environment import is_one_of_several
from ptcli.run.folder import RunFolder


@dataclass
class TaskEvaluation:
    """When a task's validation rows are answered while a model is fine-tuned."""

    every: float | None = None
    batch_size: int = MISSING


@dataclass
class FinetuneRoot(TrainingRoot):
    """Types of conf/finetune.yaml."""

    random_weights: bool = MISSING
    folds: int | None = None
    eval: TaskEvaluation = field(default_factory=TaskEvaluation)


COMMAND = Command(
    __name__,
    "train a pretrained model on a task",
    root=FinetuneRoot,
    needs={
        "checkpoint": "checkpoint=RUN",
        "task": "checkpoint=RUN task=classification task.path=FOLDER (ptcli options task)",
    },
    trains=True,
    examples=(
        "ptcli finetune checkpoint=runs/NAME task=classification task.path=reviews/ max_length=64",
        "ptcli finetune checkpoint=runs/NAME task=sst2 task.path=SST-2/     a benchmark's own layout",
        "ptcli finetune -m checkpoint=runs/NAME task=rte seed=1,2,3,4,5     five runs, one after the other",
        "ptcli finetune checkpoint=runs/NAME task=[mnli,qqp,stsb]           one encoder with a head for each",
    ),
)


def run(config: DictConfig, context: Context) -> float | int | None:
    """Fine-tune, or go on with it; the best value of the task's metric, or an exit code where a signal stopped it."""
    from ptcli.finetuning.checks import check_fine_tuning, shape_of
    from ptcli.finetuning.data import read_task
    from ptcli.finetuning.single import fine_tune
    from ptcli.task.multi import Multi
    from ptcli.trainer.ranks import current

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
    from ptcli.finetuning import single

    single.follow(config, context, path=Path(job["path"]), fold=job["fold"])
