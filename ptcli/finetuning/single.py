"""One model fine-tuned on one task, from its rows to the scores of its best weights."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.batch.task_loader import TaskLoader
from ptcli.config.context import Context
from ptcli.config.identity import resolve
from ptcli.finetuning.base import load_base
from ptcli.finetuning.data import TaskData, TaskTokens, encode_task, read_task, without_fold
from ptcli.finetuning.fit_best import fit_best
from ptcli.finetuning.joint_model import learned_of
from ptcli.finetuning.judge import FEWER_RESAMPLES, Judge
from ptcli.finetuning.mistakes import figures_of, told_scores, write_errors, write_page
from ptcli.finetuning.model import INITIALISING, Base, keep_settled, save_fine_tuned, task_step
from ptcli.logger.console import Console
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger
from ptcli.optimizer.groups import describe_groups
from ptcli.run.begin import begin, left_unless_begun
from ptcli.run.folder import RunFolder
from ptcli.task.initialise import check_length, initialise
from ptcli.task.metrics.score import LOWER_IS_BETTER
from ptcli.task.split import folds
from ptcli.trainer.budget import Budget
from ptcli.trainer.loop import Trainer
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.signals import Interrupted
from ptcli.trainer.weights import load_weights


def fine_tune(
    config: DictConfig,
    context: Context,
    path: Path,
    task: Any,
    read: Callable[[], Any],
    *,
    fit: Callable[..., float | None] | None = None,
) -> float | int | None:
    """One model in the run folder `path`, on the rows that `read` gives; what `run` returns.

    `fit`: trains it, called as `fit_task` is; None: `fit_task`.
    """
    fit = fit or fit_task
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    sinks = [Console(), Jsonl(), *(part(config, f"logger.{name}") for name in config.logger or {})]
    with RunFolder(path) as folder:
        if finished := begin(folder, config, context, budget):
            return (finished.get("best") or {}).get("value")
        with left_unless_begun(folder), Logger(sinks) as logger:
            logger.start(folder=folder.path, name=path.name, group=context.sweep, config=resolve(config))
            try:
                return fit(config, context, folder, logger, trainer, budget, task, read())
            except Interrupted as stopped:
                logger.say(str(stopped))
                logger.finish("interrupted")
                return stopped.exit_code


def follow(config: DictConfig, context: Context, *, path: Path, fold: int | None) -> None:
    """Train with rank 0, which has begun with `run`: as it does, but without a word and without writing anything.

    `path`: of the run folder, of which rank 0 holds the lock. `fold`: the part of the rows that is left out.
    """
    task = part(config, "task")
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    if fold is None:
        data = read_task(task, seed=config.seed)
    else:
        whole = read_task(task, seed=config.seed, hold_out=False)
        data = without_fold(whole, folds(task, whole.training, number=config.folds, seed=config.seed), fold)
    start = _start(config, task, data)
    _train(config, context, RunFolder(path), Logger([]), trainer, budget, task, data, start)


def fit_task(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: Trainer,
    budget: Budget,
    task: Any,
    data: TaskData,
    *,
    member: str | None = None,
) -> float | None:
    """Train on the rows of a task; the best value of its metric.

    `member`: the name that the task has in the checkpoint, which was trained on several: its head goes on, too.
    """
    start = _start(config, task, data, member=member)
    job = {"config": resolve(config), "context": asdict(context), "path": str(folder.path), "fold": data.fold}
    with trainer.ranks.together(job):  # the others read the rows as rank 0 has
        judge = _train(config, context, folder, logger, trainer, budget, task, data, start)
    load_weights(start.step, folder.model)
    trainer.place(start.step)
    for line in judge.settle(start.step):
        logger.say(line)
    keep_settled(folder.model, task)
    return _tell(folder, logger, judge, start.step, task)


@dataclass(frozen=True)
class _Start:
    """What training starts from: the rows as tokens, and a step with a checkpoint's weights, which `lines` tell of."""

    base: Base
    tokens: TaskTokens
    step: Any
    lines: list[str]


def _start(config: DictConfig, task: Any, data: TaskData, *, member: str | None = None) -> _Start:
    task.settled = {}
    plugins = tuple(config.plugins)
    base = load_base(config.checkpoint, plugins=plugins, random_weights=config.random_weights, seed=config.seed)
    check_length(base.model, max_length=config.max_length, longest=base.longest, checkpoint=config.checkpoint)
    tokens = encode_task(task, data, tokenizer=base.tokenizer, max_length=config.max_length)
    seed_everything(config.seed)
    step = task_step(task, base.model, num_labels=len(data.labels))
    lines = initialise(
        step,
        pooler=base.pooler,
        trained_segments=base.segments,
        fresh=base.fresh,
        learned=None if member is None else learned_of(base.source, member),
        **{key: value for key, value in task.on_model.items() if key in INITIALISING},
    )
    return _Start(base, tokens, step, lines)


def _train(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: Trainer,
    budget: Budget,
    task: Any,
    data: TaskData,
    start: _Start,
) -> Judge:
    """Train with the other ranks; what judges the step. The best weights are in the folder."""
    base, tokens, step = start.base, start.tokens, start.step
    trainer.place(step)
    strategy = trainer.distribute(step, layers=step.model.layers())
    optimizer = part(config, "optimizer", module=strategy.trained)
    loader = TaskLoader(
        tokens.training,
        isolates=step.model.isolates,
        longest_row=step.model.longest_row,
        vocabulary=base.tokenizer.vocabulary,
        max_length=config.max_length,
        batch_size=config.batch.size,
        micro_size=trainer.micro_size(config.batch.size, config.batch.micro_size),
        seed=config.seed,
        group_by_length=config.batch.group_by_length,
        group_size=trainer.group_size(config.batch.size, config.batch.micro_size),
        static_length=trainer.device.type == "cuda",
        rank=trainer.ranks.rank,
        ranks=trainer.ranks.size,
    )
    judge = Judge(
        task,
        data.validation,
        tokens.validation,
        labels=data.labels,
        tokenizer=base.tokenizer,
        max_length=config.max_length,
        batch_size=config.eval.batch_size,
        trainer=trainer,
        say=logger.say,
    )
    parameters = sum(parameter.numel() for parameter in step.parameters())
    for line in (
        f"model: {parameters:,} parameters from {base.folder}; {trainer.describe()}",
        *base.remarks,
        *start.lines,
        *data.remarks,
        *tokens.lines,
        *(f"optimizer: {line}" for line in describe_groups(optimizer.param_groups)),
    ):
        logger.say(line)

    def save(metrics: dict[str, float]) -> None:
        save_fine_tuned(folder.model, step, config=config, base=base, task=task, labels=data.labels, best=metrics)

    fit_best(
        config,
        context,
        folder,
        logger,
        trainer,
        budget,
        step=step,
        optimizer=optimizer,
        strategy=strategy,
        loader=loader,
        measure=lambda: judge(step),
        save=save,
        best_metric=f"eval/{task.best_metric}",
        told=task.best_metric,
        lower=task.best_metric in LOWER_IS_BETTER,
        identity={"rows": tokens.hash},
    )
    return judge


def _tell(folder: RunFolder, logger: Logger, judge: Judge, step: Any, task: Any) -> float | None:
    found = measure_best(folder.path, judge, step, task, say=logger.say)
    folder.write_summary(scores=found)
    logger.say(
        f"the model is in {folder.model}; what it gets wrong in {folder.path / 'errors.tsv'}; "
        f"let it answer: ptcli predict checkpoint={folder.path} input=FILE output=FILE"
    )
    first = next(iter(found.values()))
    return first[task.best_metric][0]


def measure_best(
    path: Path | None, judge: Judge, step: Any, task: Any, *, say: Callable[[str], None]
) -> dict[str, Any]:
    """Measure the best weights once more, with intervals, and write down in `path`, if any, what they get wrong.

    Of each split, by metric, its value and the ends of its interval.
    """
    found: dict[str, Any] = {}
    for number, split in enumerate(judge.splits):
        answers = judge.answers(step, split)
        scores = judge.score(split, answers, resamples=FEWER_RESAMPLES)
        for line in told_scores(scores):
            say(f"{split}: {line}")
        found[split] = {name: [score.value, score.low, score.high] for name, score in scores.items()}
        if number == 0 and path is not None:
            write_errors(path / "errors.tsv", task, judge.splits[split], answers)
            figures = figures_of(task, judge.splits[split], answers, labels=judge.labels)
            write_page(path / "report.html", figures, scores, title=path.name)
    return found
