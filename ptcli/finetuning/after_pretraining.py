"""`ptcli pretrain ... task=...`: the finished model is fine-tuned in its own run folder."""

import logging
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.compose import compose
from ptcli.config.context import Context
from ptcli.config.fit import check
from ptcli.config.identity import plain
from ptcli.config.phases import longest_row
from ptcli.config.several_tasks import name_of_task, typed_task
from ptcli.finetuning import finetuning
from ptcli.finetuning.checks import check_fine_tuning, meta_model

log = logging.getLogger(__name__)


def finetune_after(config: DictConfig, context: Context) -> float | int | None:
    """Fine-tune the model of a pretraining that has ended, in `<run>/<task>`; what ptcli finetune returns."""
    theirs, own, chosen = fine_tuning(config, context)
    log.info(f"task={chosen}: fine-tuning, in {Path(theirs.run.dir) / theirs.run.name}")
    return finetuning.fine_tune(theirs, own)


def fine_tuning(config: DictConfig, context: Context) -> tuple[DictConfig, Context, str]:
    """The configuration of the fine-tuning, which has passed the nets, its context, and the task's name.

    Raises ConfigError for what does not fit.
    """
    folder, chosen = Path(config.run.dir) / config.run.name, typed_task(context.choices)
    composed = compose("finetune")
    theirs, settings = composed.config, config.finetune
    OmegaConf.set_struct(theirs, False)
    theirs.task = config.task
    theirs.logger = config.logger
    OmegaConf.set_struct(theirs, True)
    values: dict[str, Any] = {
        "checkpoint": str(folder),
        "run.dir": str(folder),
        "run.name": plain(name_of_task(context.choices)),
        "seed": config.seed,
        "resume": config.resume,
        "plugins": list(config.plugins),
        "max_length": settings.max_length or longest_row(config),
        "batch.size": settings.batch_size,
        "budget.epochs": settings.epochs,
        "optimizer.learning_rate": settings.learning_rate,
        "trainer.device": config.trainer.device,
        "trainer.devices": config.trainer.devices,
        "trainer.strategy": config.trainer.strategy,
        "trainer.precision": config.trainer.precision,
        "trainer.threads": config.trainer.threads,
        "log.every": config.log.every,
    }
    for key, value in values.items():
        OmegaConf.update(theirs, key, value)
    task_choices = {group: choice for group, choice in context.choices.items() if group.startswith("task")}
    choices = {**composed.choices, **task_choices}
    check(theirs, choices, command="finetune", plugins=tuple(config.plugins))
    check_fine_tuning(theirs, model=lambda: meta_model(config))
    own = Context(
        "finetune",
        overrides=tuple(f"{key}={value}" for key, value in {"task": chosen, **values}.items()),
        choices=choices,
        sweep=context.sweep,
        job=context.job,
        outside=context.outside,
    )
    return theirs, own, chosen
