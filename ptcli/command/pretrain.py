"""`ptcli pretrain`: text to a trained model, read top to bottom."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig, OmegaConf

from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.root import Kept, TrainingRoot

if TYPE_CHECKING:
    pass


@dataclass
class Prepare:
    """How a corpus is tokenised."""

    workers: int = MISSING
    shard: str | None = None


@dataclass
class Evaluation:
    """When, on what and under which mask the model is evaluated while it trains."""

    every: float = MISSING
    fraction: float = MISSING
    max_length: int = MISSING
    tokens: int = MISSING
    mask: Any = MISSING


@dataclass
class Save(Kept):
    """When checkpoints are made and how many are kept."""

    every: float = MISSING


@dataclass
class FineTuning:
    """How the finished model of a pretraining is fine-tuned."""

    epochs: float = MISSING
    batch_size: int = MISSING
    learning_rate: float = MISSING
    max_length: int | None = None


@dataclass
class PretrainRoot(TrainingRoot):
    """Types of conf/pretrain.yaml."""

    corpus: Any = MISSING
    words: Any = MISSING
    tokenizer: Any = MISSING
    pair: Any = MISSING
    packing: Any = MISSING
    mask: Any = MISSING
    objective: Any = MISSING
    auxiliary: Any = MISSING
    model: Any = MISSING
    finetune: FineTuning = field(default_factory=FineTuning)
    scale: float = MISSING
    prepare: Prepare = field(default_factory=Prepare)
    phases: list[Any] = field(default_factory=list)
    eval: Evaluation = field(default_factory=Evaluation)
    save: Save = field(default_factory=Save)
    resize_vocabulary: bool = MISSING


NO_PART = {"prepare.shard": "only ptcli prepare makes a part of a store. Leave it out of ptcli {command}"}
NO_TASK = {"task": "ptcli {command} is about pretraining. Leave task= out; ptcli pretrain and ptcli finetune take it"}
"""What commands refuse that begin with conf/pretrain.yaml."""

COMMAND = Command(
    __name__,
    "train a model on text",
    root=PretrainRoot,
    refuses=NO_PART,
    trains=True,
    examples=(
        "ptcli pretrain                                          BERT on the embedded corpus",
        "ptcli pretrain recipe=demo                              a small model that learns in minutes",
        "ptcli pretrain model=albert model/size=mini mask=span corpus=text corpus.path=books/ budget.minutes=3",
        "ptcli pretrain -m mask.ratio=0.15,0.3,0.4 seed=1,2,3    nine runs, one after the other",
    ),
)


def run(config: DictConfig, context: Context) -> float | int | None:
    """Train one run, or go on with it, then fine-tune its model where a task is given.

    Its last fixed-mask loss, or the value of the task's metric; an exit code where a signal stopped it.
    """
    from ptcli.pretraining.pretraining import pretrain

    if OmegaConf.select(config, "task") is None:
        return pretrain(config, context)
    from ptcli.finetuning.after_pretraining import fine_tuning, finetune_after

    fine_tuning(config, context)  # what does not fit is told before anything is trained
    alone = config.copy()
    alone.task = None
    context = replace(context, sweep=context.sweep or config.run.name)  # one group of runs
    result = pretrain(alone, context)
    return result if isinstance(result, int) else finetune_after(config, context)


def follow(config: DictConfig, context: Context, job: dict[str, Any]) -> None:
    """Train with rank 0, which has begun with `run`."""
    from ptcli.pretraining import pretraining

    pretraining.follow(config, context)
