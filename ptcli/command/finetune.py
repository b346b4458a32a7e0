"""`ptcli finetune`: a pretrained model and the rows of a task to a model that answers, read top to bottom."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.batch.task_loader import TaskLoader
from ptcli.command.answer import FEWER_RESAMPLES, Judge
from ptcli.command.assemble import part
from ptcli.command.earlier_run import begin
from ptcli.command.fine_tuned import INITIALISING, best_of, load_base, save_fine_tuned, task_step
from ptcli.command.mistakes import figures_of, told_scores, write_errors, write_page
from ptcli.command.task_data import TaskData, encode_task, read_task
from ptcli.config.context import Context
from ptcli.config.identity import fingerprint, resolve
from ptcli.errors import ConfigError
from ptcli.logger.console import Console
from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger
from ptcli.optimizer.groups import describe_groups
from ptcli.task.initialise import check_length, initialise
from ptcli.task.metrics.score import LOWER_IS_BETTER
from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Phase
from ptcli.trainer.folder import RunFolder
from ptcli.trainer.loop import Trainer
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.signals import Interrupted
from ptcli.trainer.weights import load_weights


def run(config: DictConfig, context: Context) -> float | int | None:
    """Fine-tune, or go on with it; the best value of the task's metric, or an exit code where a signal stopped it."""
    task = part(config, "task")
    task.check()
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    part(config, "schedule").check(total_steps=budget.total_steps)
    trainer.micro_size(config.batch.size, config.batch.micro_size)
    if trainer.devices > 1:
        raise ConfigError(
            f"trainer.devices={trainer.devices}: fine-tuning takes one device. Use trainer.devices=1; several seeds or "
            "tasks run beside each other as commands of their own."
        )
    path = Path(config.run.dir) / config.run.name
    if config.folds is not None:
        from ptcli.command.folds import run_folds

        return run_folds(config, context, path, task)
    return fine_tune(config, context, path, task, lambda: read_task(task, seed=config.seed))


def fine_tune(
    config: DictConfig, context: Context, path: Path, task: Any, read: Callable[[], TaskData]
) -> float | int | None:
    """One model in the run folder `path`, on the rows that `read` gives; what `run` returns."""
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    sinks = [Console(), Jsonl(), *(part(config, f"logger.{name}") for name in config.logger or {})]
    with RunFolder(path) as folder:
        if finished := begin(folder, config, context, budget):
            return (finished.get("best") or {}).get("value")
        with Logger(sinks) as logger:
            logger.start(folder=folder.path, name=path.name, group=context.sweep, config=resolve(config))
            try:
                return _fit(config, context, folder, logger, trainer, budget, task, read())
            except Interrupted as stopped:
                logger.say(str(stopped))
                logger.finish("interrupted")
                return stopped.exit_code


def _fit(
    config: DictConfig,
    context: Context,
    folder: RunFolder,
    logger: Logger,
    trainer: Trainer,
    budget: Budget,
    task: Any,
    data: TaskData,
) -> float | None:
    plugins = tuple(config.plugins)
    base = load_base(config.checkpoint, plugins=plugins, random_weights=config.random_weights, seed=config.seed)
    check_length(base.model, max_length=config.max_length, longest=base.longest, checkpoint=config.checkpoint)
    tokens = encode_task(task, data, tokenizer=base.tokenizer, max_length=config.max_length)
    seed_everything(config.seed)
    step: Any = task_step(task, base.model, num_labels=len(data.labels))
    started = initialise(
        step,
        pooler=base.pooler,
        trained_segments=base.segments,
        fresh=base.fresh,
        **{key: value for key, value in task.on_model.items() if key in INITIALISING},
    )
    trainer.place(step)
    strategy = trainer.distribute(step, layers=step.model.layers())
    optimizer, schedule = part(config, "optimizer", module=strategy.trained), part(config, "schedule")
    loader = TaskLoader(
        tokens.training,
        vocabulary=base.tokenizer.vocabulary,
        max_length=config.max_length,
        batch_size=config.batch.size,
        micro_size=trainer.micro_size(config.batch.size, config.batch.micro_size),
        seed=config.seed,
        group_by_length=config.batch.group_by_length,
        static_length=trainer.device.type == "cuda",
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
        *started,
        *data.remarks,
        *tokens.lines,
        *(f"optimizer: {line}" for line in describe_groups(optimizer.param_groups)),
    ):
        logger.say(line)

    best_metric, lower = f"eval/{task.best_metric}", task.best_metric in LOWER_IS_BETTER

    def save(metrics: dict[str, float]) -> None:
        save_fine_tuned(folder.model, step, config=config, base=base, task=task, labels=data.labels, best=metrics)

    def evaluate() -> dict[str, float]:
        """Called with the weights that are judged in place: those that are best are kept as they are now."""
        metrics, before = judge(step), best_of(folder.model).get(best_metric)
        value = metrics.get(best_metric)
        if value is not None and (before is None or (value < before if lower else value > before)):
            save(metrics)
        return metrics

    def export() -> None:
        if best_of(folder.model).get(best_metric) is None:
            logger.say(f"no evaluation gave {task.best_metric}: the weights are those of the last step")
            save({})

    trainer.fit(
        step=step,
        optimizer=optimizer,
        schedule=schedule,
        loader=[Phase(lambda: loader, operations=3 * step.model.flops_per_token(config.max_length))],
        budget=budget,
        run=folder,
        logger=logger,
        seed=config.seed,
        evaluate=evaluate,
        export=export,
        best_metric=best_metric,
        higher_is_better=not lower,
        log_every=config.log.every,
        log_norms=config.log.norms,
        eval_every=_every(config, budget),
        save_every=_every(config, budget),
        keep=config.save.keep,
        identity={"configuration": fingerprint(config), "rows": tokens.hash},
        resume_command=context.command_line,
        strategy=strategy,
    )
    load_weights(step, folder.model)
    return _tell(folder, logger, judge, step, task)


def _every(config: DictConfig, budget: Budget) -> float:
    """How often to evaluate: as set, else after each epoch, or at each tenth of a budget of another kind."""
    if config.eval.every is not None:
        return config.eval.every
    if budget.unit != "epochs":
        return 0.1
    return 1 / budget.amount if budget.amount > 1 else 0


def _tell(folder: RunFolder, logger: Logger, judge: Judge, step: Any, task: Any) -> float | None:
    """Measure the best weights once more, with intervals, and write down what they get wrong."""
    found: dict[str, Any] = {}
    for number, split in enumerate(judge.splits):
        answers = judge.answers(step, split)
        scores = judge.score(split, answers, resamples=FEWER_RESAMPLES)
        for line in told_scores(scores):
            logger.say(f"{split}: {line}")
        found[split] = {name: [score.value, score.low, score.high] for name, score in scores.items()}
        if number == 0:
            write_errors(folder.path / "errors.tsv", task, judge.splits[split], answers)
            figures = figures_of(task, judge.splits[split], answers, labels=judge.labels)
            write_page(folder.path / "report.html", figures, scores, title=folder.path.name)
    folder.write_summary(scores=found)
    logger.say(
        f"the model is in {folder.model}; what it gets wrong in {folder.path / 'errors.tsv'}; "
        f"let it answer: ptcli predict checkpoint={folder.path} input=FILE output=FILE"
    )
    first = next(iter(found.values()))
    return first[task.best_metric][0]
