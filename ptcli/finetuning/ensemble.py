"""Fine-tuned models that answer together: one, several of one task, or the folds of one run."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.finetuning.judge import ask
from ptcli.finetuning.model import FineTuned, load_fine_tuned
from ptcli.run.folder import RunFolder
from ptcli.task.rows import Row
from ptcli.trainer.trainer import Trainer

log = logging.getLogger(__name__)


SAID_APART = ("tokens", "span")  # what is said of tokens: only models of one tokenizer say it of the same ones


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


def named(row: Row, answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its row's place and the data's own name for it."""
    return {"index": row.index, **({} if row.id is None else {"id": row.id}), **answer}
