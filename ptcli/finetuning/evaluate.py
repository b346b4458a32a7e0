"""`ptcli evaluate` of a fine-tuned model: its metrics with intervals, and what it gets wrong."""

import logging
import re
import shutil
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from rich.table import Table

from ptcli.assembly.machine import machine
from ptcli.config.context import Context
from ptcli.errors import ConfigError
from ptcli.finetuning.data import read_task
from ptcli.finetuning.judge import RESAMPLES, Judge
from ptcli.finetuning.mistakes import check_errors, figures_of, write_errors, write_page
from ptcli.finetuning.model import FineTuned, load_fine_tuned
from ptcli.report.terminal import console_for, draw_figures
from ptcli.task.metrics.score import Score
from ptcli.task.rows import Row

log = logging.getLogger(__name__)


def run(config: DictConfig, context: Context) -> float | None:
    """Print metrics, a confusion matrix and a reliability plot; write errors and a page. The judging metric's value."""
    _refuse_text_keys(context)
    check_errors(config.errors)
    trainer = machine(config)
    saved = load_fine_tuned(config.checkpoint, plugins=tuple(config.plugins))
    for remark in saved.remarks:
        log.info(remark)
    rows = _rows(saved, config)
    encoded = saved.task.encode(
        rows, tokenizer=saved.tokenizer, max_length=saved.config.max_length, labels=saved.labels
    )
    for remark in (*saved.task.remarks(), *encoded.remarks):
        log.info(remark)
    trainer.place(saved.step)
    split = config.task.split
    judge = Judge(
        saved.task,
        {split: rows},
        {split: encoded},
        labels=saved.labels,
        tokenizer=saved.tokenizer,
        max_length=saved.config.max_length,
        batch_size=config.batch.size,
        trainer=trainer,
        say=log.info,
    )
    answers = judge.answers(saved.step, split)
    scores = judge.score(split, answers, resamples=RESAMPLES)
    figures = figures_of(saved.task, rows, answers, labels=saved.labels)
    console = console_for()
    console.print(_table(scores))
    console.print(draw_figures(figures, width=shutil.get_terminal_size().columns))
    log.info(f"{len(rows):,} rows. Intervals: 95 %, over rows drawn anew {RESAMPLES:,} times.")
    if config.errors:
        number = write_errors(Path(config.errors).expanduser(), saved.task, rows, answers)
        log.info(f"{number:,} rows are not answered right: {config.errors}, the worst first")
    if config.page:
        write_page(Path(config.page).expanduser(), figures, scores, title=context.command_line)
        log.info(f"page: {config.page}")
    return scores[saved.task.best_metric].value


def _rows(saved: FineTuned, config: DictConfig) -> list[Row]:
    """The rows of other files where they are named, else of the run: those of a split, or those that it held out."""
    task: Any = saved.task
    split = config.task.split
    if config.task.path is not None:
        path = Path(config.task.path).expanduser()
        if path.is_file():
            rows = list(task.read_file(path))
            if without := [row.source for row in rows if row.label is None]:
                raise ConfigError(
                    f"task.path={path}: {len(without):,} rows have no label ({without[0]}): nothing is measured. "
                    f"Let the model answer them: ptcli predict checkpoint={config.checkpoint} input={path} output=FILE"
                )
            return rows
        task.source.path = str(path)
    task.check()
    if split not in task.splits and split == "validation":
        return read_task(task, seed=saved.config.seed).validation["validation"]
    if split not in task.splits:
        raise ConfigError(f"task.split={split}: the task has {', '.join(task.splits)}. Choose one of them.")
    return task.read(split, labelled=True)


def _table(scores: dict[str, Score]) -> Table:
    table = Table("metric", "value", "95 % interval", "", box=None, pad_edge=False)
    for name, score in scores.items():
        value = "undefined" if score.value is None else f"{score.value:.4f}"
        interval = "" if score.low is None else f"{score.low:.4f} to {score.high:.4f}"
        table.add_row(name, value, interval, score.remark)
    return table


def _refuse_text_keys(context: Context) -> None:
    key = next((word for word in context.overrides if re.match(r"[+~]*(corpus\b|eval\.|seed=)", word)), None)
    if key:
        raise ConfigError(
            f"{key} is for models that fill in words; this one was fine-tuned. Give other rows with task.path=FILE, "
            "another split with task.split=NAME."
        )
