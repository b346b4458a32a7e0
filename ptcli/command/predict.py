"""`ptcli predict`: a fine-tuned model answers the rows of a file, in the file's order; several answer together."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from ptcli.command.answer import ask
from ptcli.command.answer_file import AnswerFile, format_of
from ptcli.command.assemble import part
from ptcli.command.fine_tuned import FineTuned, load_fine_tuned
from ptcli.command.mistakes import told_scores
from ptcli.config.context import Context
from ptcli.errors import ConfigError, PtcliError
from ptcli.task.rows import Row
from ptcli.task.submission import Submission
from ptcli.trainer.folder import RunFolder
from ptcli.trainer.loop import Trainer

log = logging.getLogger(__name__)

SAID_APART = ("tokens", "span")  # what is said of tokens: only models of one tokenizer say it of the same ones


def run(config: DictConfig, context: Context) -> None:
    """Read rows, answer them and write the answers, some at a time; of labelled rows, say the metrics at the end."""
    if not Path(config.input).expanduser().is_file():
        raise ConfigError(f"input={config.input}: there is no such file.")
    format = format_of(config.output, config.format)
    trainer = machine(config)
    models = load_models(config.checkpoint, plugins=tuple(config.plugins))
    for model in models:
        trainer.place(model.step)
    first, answered, judged = models[0], 0, _Judged(models[0])
    # benchmarks take labels as their files have them, readers by name
    names = first.labels if format == "submission" else first.task.names_of(first.labels)
    submission = Submission(first.task, labels=names) if format == "submission" else None
    with AnswerFile.open(config.output, format) as file:
        if submission:
            file.write_lines(submission.begin())
        for rows in read_rows(first.task, config.input, chunk=config.chunk):
            asked = [replace(row, label=None) for row in rows]
            outputs, encoded = ask_together(models, asked, batch_size=config.batch.size, trainer=trainer)
            answers = first.task.decode(outputs, encoded, rows, labels=names)
            if submission:
                file.write_lines(submission.lines(rows, answers))
            else:
                file.write([named(row, answer) for row, answer in zip(rows, answers, strict=True)])
            if any(row.label is not None for row in rows):
                if names != first.labels:
                    answers = first.task.decode(outputs, encoded, rows, labels=first.labels)
                judged.add(rows, answers)
            answered += len(rows)
        if submission:
            file.write_lines(submission.end())
    where = "" if config.output is None else f", in {config.output}"
    log.info(f"{answered:,} rows answered{where}")
    for remark in first.task.remarks():
        log.info(remark)
    if judged.unknown:
        log.info(f"{judged.unknown:,} rows have a label that the model does not know: they are answered, not judged")
    if judged.rows:
        log.info(f"{len(judged.rows):,} of them have labels:")
        for line in told_scores(first.task.score(judged.answers, judged.rows, labels=first.labels)):
            log.info(f"  {line}")


def load_models(checkpoint: Any, *, plugins: tuple[str, ...]) -> list[FineTuned]:
    """One model, or several of the same task: a list, or the folder of several folds.

    Raises ConfigError where they cannot answer together.
    """
    given = [checkpoint] if isinstance(checkpoint, str) else list(checkpoint)
    places = [fold for place in given for fold in _folds_in(place)]
    models = [load_fine_tuned(place, plugins=plugins) for place in places]
    first = models[0]
    for name in first.task.settled:  # each has chosen its own: together they take the mean
        values = [model.task.settled.get(name, 0.0) for model in models]
        first.task.settled[name] = sum(values) / len(values)
    for place, model in zip(places[1:], models[1:], strict=True):
        if (model.labels, model.task.target) != (first.labels, first.task.target):
            raise ConfigError(f"checkpoint={place} was trained on other labels than {places[0]}: their answers differ.")
        if first.task.target in SAID_APART and model.tokenizer.hash != first.tokenizer.hash:
            raise ConfigError(
                f"checkpoint={place} has another tokenizer than {places[0]}, and this kind of task is about tokens. "
                "Let models of one tokenizer answer together."
            )
    for remark in dict.fromkeys(remark for model in models for remark in model.remarks):
        log.info(remark)
    return models


def _folds_in(place: str) -> list[str]:
    path = Path(place).expanduser()
    if not fold_folder(path, 1).is_dir():
        return [place]
    summary = RunFolder(path).summary()
    if summary.get("status") != "finished":
        raise ConfigError(
            f"checkpoint={place}: not all of its folds are trained. Type its ptcli finetune command again, which goes "
            f"on, or let one answer alone: checkpoint={fold_folder(path, 1)}"
        )
    return [str(fold_folder(path, number + 1)) for number in range(summary["folds"])]


def fold_folder(path: Path, number: int) -> Path:
    """The run folder of a fold, counted from 1, of the folds in `path`."""
    return path / f"fold-{number}"


def ask_together(
    models: Sequence[FineTuned], rows: Sequence[Row], *, batch_size: int, trainer: Trainer
) -> tuple[dict[str, np.ndarray], Any]:
    """The mean of the models' outputs for some rows, and the rows as the first one encodes them."""
    outputs: dict[str, np.ndarray] = {}
    encoded: list[Any] = []
    for model in models:
        length = model.config.max_length
        encoded.append(model.task.encode(rows, tokenizer=model.tokenizer, max_length=length, labels=model.labels))
        own = ask(
            model.step,
            model.task,
            encoded[-1],
            tokenizer=model.tokenizer,
            max_length=length,
            batch_size=batch_size,
            trainer=trainer,
        )
        outputs = {name: outputs.get(name, 0) + values / len(models) for name, values in own.items()}
    return outputs, encoded[0]


def read_rows(task: Any, path: str, *, chunk: int) -> Iterator[list[Row]]:
    """The rows of a file, so many at a time. The candidates of a query are ranked together: all rows at once then."""
    rows = _read(task, path)
    if task.target == "rank":
        yield list(rows)
        return
    while some := list(islice(rows, chunk)):
        yield some


def _read(task: Any, path: str) -> Iterator[Row]:
    """The rows of a file. What is wrong with one is told by keys of the task, which only training takes."""
    try:
        yield from task.read_file(path)
    except PtcliError as error:
        told = str(error).replace(f"task.path={path}", f"input={path}")
        if "task." in told:
            told += f" (task. is for ptcli finetune: here lay out {path} as the rows that the model was trained on.)"
        raise type(error)(told) from error


def machine(config: DictConfig) -> Trainer:
    """Where a finished model runs, and in which number format."""
    node = {"trainer": {"_target_": "ptcli.trainer.loop.Trainer", **config.trainer}}
    return part(OmegaConf.create(node), "trainer")


class _Judged:
    """The rows that had labels, and their answers."""

    def __init__(self, model: FineTuned):
        self._task, self._labels = model.task, set(model.labels)
        self.rows: list[Row] = []
        self.answers: list[Mapping[str, Any]] = []
        self.unknown = 0  # rows whose label the model does not know

    def add(self, rows: Sequence[Row], answers: Sequence[Mapping[str, Any]]) -> None:
        for row, answer in zip(rows, answers, strict=True):
            if self._task.has_labels and not self._labels.issuperset(self._task.labels_of(row)):
                self.unknown += 1
            elif row.label is not None:
                self.rows.append(row)
                self.answers.append(answer)


def named(row: Row, answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its row's place and the data's own name for it."""
    return {"index": row.index, **({} if row.id is None else {"id": row.id}), **answer}
