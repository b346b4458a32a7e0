"""`ptcli finetune folds=k`: k models, each asked about the part of the training rows that it was not trained on."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.config.context import Context
from ptcli.files import to_json, write_whole
from ptcli.finetuning.answer_file import AnswerFile
from ptcli.finetuning.data import TaskData, read_task, without_fold
from ptcli.finetuning.ensemble import ask_together, fold_folder, load_models, named
from ptcli.finetuning.judge import FEWER_RESAMPLES, ask
from ptcli.finetuning.mistakes import told_scores
from ptcli.finetuning.model import load_fine_tuned
from ptcli.finetuning.single import fine_tune_one
from ptcli.task.split import folds
from ptcli.trainer.trainer import Trainer

log = logging.getLogger(__name__)


def run_folds(config: DictConfig, context: Context, path: Path, task: Any) -> float | int | None:
    """Train `path`/fold-1 to fold-k, write `out_of_fold.csv`, and measure it; the judging metric, or an exit code.

    Parts are made of whole groups. Rows of a validation split, where there is one, are answered by all models together.
    """
    whole = read_task(task, seed=config.seed, hold_out=False)
    part_of = folds(task, whole.training, number=config.folds, seed=config.seed)
    for number in range(config.folds):
        data = without_fold(whole, part_of, number)
        log.info(f"fold {number + 1} of {config.folds}: trained without {sum(part_of == number):,} rows")
        result = fine_tune_one(config, context, fold_folder(path, number + 1), task, lambda data=data: data)
        write_whole(path / "summary.json", to_json({"status": "running", "folds": config.folds}))
        if isinstance(result, int):
            return result
    answers, judged = _out_of_fold(config, path, task, whole, part_of)
    with AnswerFile.open(str(path / "out_of_fold.csv"), "csv") as file:
        file.write([named(row, answer) for row, answer in zip(whole.training, answers, strict=True)])
    scores = {"out_of_fold": task.score(judged, whole.training, labels=whole.labels, resamples=FEWER_RESAMPLES)}
    scores |= _together(config, path, task, whole)
    for split, found in scores.items():
        for line in told_scores(found):
            log.info(f"{split}: {line}")
    values = {split: {n: [s.value, s.low, s.high] for n, s in found.items()} for split, found in scores.items()}
    write_whole(path / "summary.json", to_json({"status": "finished", "folds": config.folds, "scores": values}))
    log.info(f"answers of each row by the model that has not seen it: {path / 'out_of_fold.csv'}")
    log.info(f"all {config.folds} answer together: ptcli predict checkpoint={path} input=FILE output=FILE")
    return scores["out_of_fold"][task.best_metric].value


def _out_of_fold(
    config: DictConfig, path: Path, task: Any, whole: TaskData, part_of: np.ndarray
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The answers of the training rows in their order: with the labels' names, and as they are judged."""
    trainer: Trainer = part(config, "trainer")
    told: list[Any] = [None] * len(whole.training)
    judged: list[Any] = [None] * len(whole.training)
    for number in range(config.folds):
        saved = load_fine_tuned(str(fold_folder(path, number + 1)), plugins=tuple(config.plugins))
        trainer.place(saved.step)
        places = np.flatnonzero(part_of == number)
        rows = [whole.training[place] for place in places]
        length = config.max_length
        encoded = task.encode(rows, tokenizer=saved.tokenizer, max_length=length, labels=whole.labels)
        outputs = ask(
            saved.step,
            task,
            encoded,
            tokenizer=saved.tokenizer,
            max_length=length,
            batch_size=config.eval.batch_size,
            trainer=trainer,
        )
        for into, labels in ((told, task.names_of(whole.labels)), (judged, whole.labels)):
            for place, answer in zip(places, saved.task.decode(outputs, encoded, rows, labels=labels), strict=True):
                into[place] = answer
    return told, judged


def _together(config: DictConfig, path: Path, task: Any, whole: TaskData) -> dict[str, Any]:
    """The scores of the mean of all models on the validation splits."""
    trainer: Trainer = part(config, "trainer")
    scores: dict[str, Any] = {}
    if whole.validation:
        places = [str(fold_folder(path, number + 1)) for number in range(config.folds)]
        models = load_models(places, plugins=tuple(config.plugins))
        for model in models:
            trainer.place(model.step)
        for split, rows in whole.validation.items():
            outputs, encoded = ask_together(models, rows, batch_size=config.eval.batch_size, trainer=trainer)
            answers = models[0].task.decode(outputs, encoded, rows, labels=whole.labels)
            scores[split] = task.score(answers, rows, labels=whole.labels, resamples=FEWER_RESAMPLES)
    return scores
