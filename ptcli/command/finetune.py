"""`ptcli finetune`: a pretrained model and the rows of a task to a model that answers, read top to bottom."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING, DictConfig

from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.root import TrainingRoot


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
    from ptcli.finetuning.finetuning import fine_tune

    return fine_tune(config, context)


def follow(config: DictConfig, context: Context, job: dict[str, Any]) -> None:
    """Train with rank 0, which has begun with `run` and says in `job` where and on which rows."""
    from ptcli.finetuning import single

    single.follow(config, context, path=Path(job["path"]), fold=job["fold"])
