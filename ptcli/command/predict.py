"""`ptcli predict`: a fine-tuned model answers the rows of a file, in the file's order; several answer together."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig

from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.root import DeviceAndPrecision, Root, RowBatch
from ptcli.errors import ConfigError, PtcliError
from ptcli.finetuning.answer_file import AnswerFile, format_of
from ptcli.task.rows import Row
from ptcli.task.submission import Submission

if TYPE_CHECKING:
    from ptcli.finetuning.model import FineTuned

log = logging.getLogger(__name__)


@dataclass
class PredictRoot(Root):
    """Types of conf/predict.yaml."""

    checkpoint: Any = None  # one, or a list
    input: str | None = None
    output: str | None = None
    format: str = MISSING
    chunk: int = MISSING
    batch: RowBatch = field(default_factory=RowBatch)
    trainer: DeviceAndPrecision = field(default_factory=DeviceAndPrecision)


COMMAND = Command(
    __name__,
    "let a fine-tuned model answer the rows of a file",
    root=PredictRoot,
    formats=("auto", "jsonl", "csv", "tsv", "submission"),
    needs={"checkpoint": "checkpoint=RUN", "input": "checkpoint=RUN input=FILE output=FILE"},
    examples=(
        "ptcli predict checkpoint=runs/NAME input=test.tsv output=answers.csv",
        "ptcli predict checkpoint=runs/NAME input=test.tsv output=sub.tsv format=submission",
    ),
)


def run(config: DictConfig, context: Context) -> None:
    """Read rows, answer them and write the answers, some at a time; of labelled rows, say the metrics at the end."""
    from ptcli.assembly.machine import machine
    from ptcli.finetuning.ensemble import ask_together, load_models, named
    from ptcli.finetuning.mistakes import told_scores

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


class _Judged:
    """The rows that had labels, and their answers."""

    def __init__(self, model: "FineTuned"):
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
