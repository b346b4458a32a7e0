"""One model fine-tuned on one task, from its rows to the scores of its best weights."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.batch.task_loader import TaskLoader
from ptcli.config.context import Context
from ptcli.config.identity import resolve
from ptcli.finetuning.base import load_base
from ptcli.finetuning.data import TaskData, TaskTokens, encode_task, read_task, without_fold
from ptcli.finetuning.fit_best import Judged, fit_best
from ptcli.finetuning.joint_model import learned_of
from ptcli.finetuning.judge import FEWER_RESAMPLES, Judge
from ptcli.finetuning.mistakes import figures_of, told_scores, write_errors, write_page
from ptcli.finetuning.model import INITIALISING, Base, keep_settled, save_fine_tuned, task_step
from ptcli.optimizer.groups import describe_groups
from ptcli.run.job import Job, Result, do_job, silent_job
from ptcli.task.initialise import check_length, initialise
from ptcli.task.metrics.score import LOWER_IS_BETTER
from ptcli.task.split import folds
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.weights import load_weights


def fine_tune_one(
    config: DictConfig,
    context: Context,
    path: Path,
    task: Any,
    read: Callable[[], Any],
    *,
    fit: Callable[[Job, Any, Any], float | None] | None = None,
) -> Result:
    """One model in the run folder `path`, on the rows that `read` gives; as ptcli.finetuning.finetuning.fine_tune.

    `fit`: trains it, called as `fit_task` is; None: `fit_task`.
    """
    train = fit or fit_task
    return do_job(config, context, path, lambda job: train(job, task, read()), finished=best_value)


def best_value(summary: dict[str, Any]) -> float | None:
    """The best value of what a finished run is judged by."""
    return (summary.get("best") or {}).get("value")


def follow(config: DictConfig, context: Context, *, path: Path, fold: int | None) -> None:
    """Train with rank 0, which has begun: as it does, but without a word and without writing anything.

    `path`: of the run folder, of which rank 0 holds the lock. `fold`: the part of the rows that is left out.
    """
    task = part(config, "task")
    if fold is None:
        data = read_task(task, seed=config.seed)
    else:
        whole = read_task(task, seed=config.seed, hold_out=False)
        data = without_fold(whole, folds(task, whole.training, number=config.folds, seed=config.seed), fold)
    _train(silent_job(config, context, path), task, data, _start(config, task, data))


def fit_task(job: Job, task: Any, data: TaskData, *, member: str | None = None) -> float | None:
    """Train on the rows of a task; the best value of its metric.

    `member`: the name that the task has in the checkpoint, which was trained on several: its head goes on, too.
    """
    start = _start(job.config, task, data, member=member)
    told = {"config": resolve(job.config), "context": asdict(job.context)}
    with job.trainer.ranks.together({**told, "path": str(job.folder.path), "fold": data.fold}):
        judge = _train(job, task, data, start)  # the others read the rows as rank 0 has
    load_weights(start.step, job.folder.model)
    job.trainer.place(start.step)
    for line in judge.settle(start.step):
        job.logger.say(line)
    keep_settled(job.folder.model, task)
    return _tell(job, judge, start.step, task)


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


def _train(job: Job, task: Any, data: TaskData, start: _Start) -> Judge:
    """Train with the other ranks; what judges the step. The best weights are in the folder."""
    config, trainer, base, tokens, step = job.config, job.trainer, start.base, start.tokens, start.step
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
        micro_size=job.micro_size,
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
        say=job.logger.say,
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
        job.logger.say(line)

    def save(metrics: dict[str, float]) -> None:
        save_fine_tuned(job.folder.model, step, config=config, base=base, task=task, labels=data.labels, best=metrics)

    judged = Judged(
        lambda: judge(step),
        save,
        metric=f"eval/{task.best_metric}",
        told=task.best_metric,
        lower=task.best_metric in LOWER_IS_BETTER,
    )
    fit_best(job, loader, judged, strategy=strategy, optimizer=optimizer, identity={"rows": tokens.hash})
    return judge


def _tell(job: Job, judge: Judge, step: Any, task: Any) -> float | None:
    folder = job.folder
    found = measure_best(folder.path, judge, step, task, say=job.logger.say)
    folder.write_summary(scores=found)
    job.logger.say(
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
