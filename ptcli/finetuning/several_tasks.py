"""`ptcli finetune task=[mnli,stsb]`: one encoder learns several tasks, read top to bottom."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.batch.joint_loader import JointLoader
from ptcli.batch.task_loader import TaskLoader
from ptcli.config.context import Context
from ptcli.config.several_tasks import choices_of_member, told_of
from ptcli.errors import ConfigError
from ptcli.finetuning.base import load_base
from ptcli.finetuning.continued_pretraining import GoingOn, check_has_text, going_on
from ptcli.finetuning.data import TaskData, encode_task, read_task
from ptcli.finetuning.fit_best import Judged, fit_best
from ptcli.finetuning.joint_model import alone, joint_step, keep_all_settled, member_step, save_joint, write_members
from ptcli.finetuning.judge import Judge
from ptcli.finetuning.single import fine_tune_one, fit_task, measure_best
from ptcli.logger.logger import Logger
from ptcli.optimizer.groups import describe_groups
from ptcli.run.folder import RunFolder
from ptcli.run.job import Job
from ptcli.task.initialise import check_length, initialise
from ptcli.task.joint_objective import JointObjective
from ptcli.task.multi import Multi
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.weights import load_weights

PRETRAINING = "pretraining"
BEST = "eval/mean"
"""The mean over the tasks of the metric that judges each: it says which weights are best."""


def run_several(config: DictConfig, context: Context, path: Path, task: Multi) -> float | int | None:
    """Train the tasks together in the run folder `path`, then each alone where that is asked for.

    The mean of their metrics, or an exit code where a signal stopped it. `path`/<name> holds each task's own model.
    """
    if task.pretraining:
        if config.random_weights:
            raise ConfigError(
                f"task.pretraining={task.pretraining} goes on with a pretraining whose weights random_weights=true "
                "forgets. Use task.pretraining=0, or random_weights=false."
            )
        check_has_text(config.checkpoint, share=task.pretraining)
    before = RunFolder(path).summary().get("step")
    result = fine_tune_one(config, context, path, task, lambda: _read(task, config.seed), fit=_fit)
    if task.then_epochs is None:
        if (path / "model").is_dir():
            base = load_base(str(path), plugins=tuple(config.plugins), random_weights=False, seed=config.seed)
            write_members(path, base)
        return result
    is_trained_on = RunFolder(path).summary().get("step") != before
    return result if isinstance(result, int) else _each_alone(config, context, path, task, anew=is_trained_on)


def _each_alone(config: DictConfig, context: Context, path: Path, task: Multi, *, anew: bool) -> float | int | None:
    """Fine-tune each task from the joint weights, its head with them, in `path`/<name>; the mean of their metrics.

    `anew`: what earlier joint weights were trained to is put aside.
    """
    values: list[float | None] = []
    for name in task.members:
        own = alone(config, name)
        own.checkpoint, own.random_weights = str(path), False
        own.run.dir, own.run.name = str(path), name
        own.budget.steps = own.budget.tokens = own.budget.minutes = None
        own.budget.epochs = task.then_epochs
        own.resume = "never" if anew else "auto"
        member = part(own, "task")
        theirs = replace(context, choices=choices_of_member(context.choices, name), sweep=context.sweep or path.name)
        with told_of(name):
            value = fine_tune_one(
                own,
                theirs,
                path / name,
                member,
                lambda member=member: read_task(member, seed=config.seed),
                fit=partial(fit_task, member=name),
            )
        if isinstance(value, int):
            return value
        values.append(value)
    return _mean(values)


def _read(task: Multi, seed: int) -> dict[str, TaskData]:
    data: dict[str, TaskData] = {}
    for name, member in task.members.items():
        with told_of(name):
            data[name] = read_task(member, seed=seed)
    return data


def _fit(job: Job, task: Multi, data: Mapping[str, TaskData]) -> float | None:
    config, folder, logger, trainer = job.config, job.folder, job.logger, job.trainer
    for member in task.members.values():
        member.settled = {}
    plugins = tuple(config.plugins)
    base = load_base(config.checkpoint, plugins=plugins, random_weights=config.random_weights, seed=config.seed)
    check_length(base.model, max_length=config.max_length, longest=base.longest, checkpoint=config.checkpoint)
    labels = {name: each.labels for name, each in data.items()}
    tokens: dict[str, Any] = {}
    for name, member in task.members.items():
        with told_of(name):
            tokens[name] = encode_task(member, data[name], tokenizer=base.tokenizer, max_length=config.max_length)
    seed_everything(config.seed)
    step: Any = joint_step(task, base.model, labels=labels)
    started = initialise(
        step, pooler=base.pooler, trained_segments=base.segments, fresh=base.fresh, **task.initialising
    )
    sizes = {
        "batch_size": config.batch.size,
        "micro_size": trainer.micro_size(config.batch.size, config.batch.micro_size),
        "seed": config.seed,
        "static_length": trainer.device.type == "cuda",
    }
    further = going_on(base.source, **sizes) if task.pretraining else None
    whole: Any = step if further is None else _with(step, further)
    trainer.place(whole)
    strategy = trainer.distribute(whole, layers=step.model.layers())
    optimizer = part(config, "optimizer", module=strategy.trained)
    loaders: dict[str, Any] = {
        name: TaskLoader(
            tokens[name].training,
            isolates=step.model.isolates,
            longest_row=step.model.longest_row,
            vocabulary=base.tokenizer.vocabulary,
            max_length=config.max_length,
            group_by_length=config.batch.group_by_length,
            whole_epochs=True,
            **sizes,
        )
        for name in task.members
    }
    shares = task.steps_of_epoch([each.epoch_steps for each in loaders.values()])
    if further is not None:
        loaders[PRETRAINING] = further.loader
    steps = dict(zip(loaders, shares, strict=False))
    loader = JointLoader(loaders, steps=steps, seed=config.seed)
    judges = {
        name: Judge(
            member,
            data[name].validation,
            tokens[name].validation,
            labels=labels[name],
            tokenizer=base.tokenizer,
            max_length=config.max_length,
            batch_size=config.eval.batch_size,
            trainer=trainer,
            say=lambda line, name=name: logger.say(f"{name}: {line}"),
        )
        for name, member in task.members.items()
    }
    told = ", ".join(f"{number:,} of {name}" for name, number in steps.items())
    for line in (
        f"model: {sum(p.numel() for p in whole.parameters()):,} parameters from {base.folder}; {trainer.describe()}",
        *base.remarks,
        *started,
        *(f"{name}: {line}" for name in task.members for line in (*data[name].remarks, *tokens[name].lines)),
        f"an epoch: {loader.epoch_steps:,} steps, {told}",
        *(f"optimizer: {line}" for line in describe_groups(optimizer.param_groups)),
    ):
        logger.say(line)

    def save(metrics: dict[str, float]) -> None:
        save_joint(folder.model, step, config=config, base=base, task=task, labels=labels, best=metrics)

    def measure() -> dict[str, float]:
        metrics = _measured(task, judges, step)
        if further is not None and further.evaluation is not None:
            metrics |= further.evaluation(
                step.model, further.objective, device=trainer.device, autocast=trainer.autocast
            )
        return metrics

    rows = hashlib.blake2b("".join(each.hash for each in tokens.values()).encode(), digest_size=8).hexdigest()
    judged = Judged(measure, save, metric=BEST, told="a metric of every task")
    identity = {"rows": rows, **({} if further is None else {"corpus": further.text})}
    fit_best(job, loader, judged, strategy=strategy, optimizer=optimizer, identity=identity)
    load_weights(step, folder.model)
    trainer.place(step)
    for name, judge in judges.items():
        for line in judge.settle(member_step(step, name)):
            judge.say(line)
    keep_all_settled(folder.model, task)
    return _tell(folder, logger, judges, step, task)


def _with(step: Any, further: GoingOn) -> TrainingStep:
    """The same modules, and the objective that takes turns with the tasks'."""
    members = dict(zip(step.objective.names, step.objective.members, strict=True))
    return TrainingStep(step.model, JointObjective({**members, PRETRAINING: further.objective}))


def _measured(task: Multi, judges: Mapping[str, Judge], step: Any) -> dict[str, float]:
    """Metrics as eval/<name>/<metric>, and their mean, where all tasks have a value."""
    metrics: dict[str, float] = {}
    for name, judge in judges.items():
        found = judge(member_step(step, name))
        metrics |= {f"eval/{name}/{key.removeprefix('eval/')}": value for key, value in found.items()}
    mean = _mean([metrics.get(f"eval/{name}/{member.best_metric}") for name, member in task.members.items()])
    return metrics if mean is None else {**metrics, BEST: mean}


def _tell(folder: RunFolder, logger: Logger, judges: Mapping[str, Judge], step: Any, task: Multi) -> float | None:
    """Measure the best weights once more, with intervals, task by task, and write down what they get wrong."""
    found: dict[str, dict[str, Any]] = {}
    for name, judge in judges.items():
        place = None
        if task.then_epochs is None:  # else what follows writes its own
            place = folder.path / name
            place.mkdir(exist_ok=True)
        found[name] = measure_best(place, judge, member_step(step, name), task.members[name], say=judge.say)
    folder.write_summary(scores=found)
    first = {name: next(iter(splits.values())) for name, splits in found.items()}
    mean = _mean([first[name][member.best_metric][0] for name, member in task.members.items()])
    told = "undefined" if mean is None else f"{mean:.4f}"
    logger.say(f"mean over the tasks: {told}; the joint model is in {folder.model}")
    if task.then_epochs is None:
        for name in task.members:
            logger.say(f"let it answer: ptcli predict checkpoint={folder.path / name} input=FILE output=FILE")
    else:
        logger.say(f"each task goes on alone for {task.then_epochs:g} epochs")
    return mean


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
