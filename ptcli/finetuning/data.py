"""The rows of a task: read, split, their labels put in order, and told about before anything is trained."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import Encoded
from ptcli.task.rows import Row
from ptcli.task.split import split_off
from ptcli.task.statistics import describe
from ptcli.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True)
class TaskData:
    """The rows of a task. `validation`: by the name of their split, the first one judges which weights are best."""

    training: list[Row]
    validation: Mapping[str, list[Row]]
    labels: tuple[str, ...]
    remarks: list[str]
    fold: int | None = None  # of the training rows, which part is left out


def read_task(task: Any, *, seed: int, hold_out: bool = True) -> TaskData:
    """Read the splits that are trained and evaluated on; where none is for validation, one is split off.

    Unless `hold_out` is false: then `validation` may be empty.
    """
    if "train" not in task.splits:
        raise ConfigError(
            f"the task has no train split, only {', '.join(task.splits)}. "
            "Name its file: task.splits={train: FILE, validation: FILE}"
        )
    remarks: list[str] = []
    rows: dict[str, list[Row]] = {}
    for split in task.splits:
        if split == "train" or split.startswith("validation"):
            rows[split] = task.read(split)
            remarks += [f"{split}: {remark}" for remark in task.remarks()]
    training = rows.pop("train")
    if not rows and hold_out:
        training, held_out = split_off(task, training, fraction=task.validation_fraction, seed=seed)
        rows = {"validation": held_out}
        remarks.append(
            f"no validation split: {len(held_out):,} of {len(training) + len(held_out):,} training rows are held out, "
            "whole groups (task.validation_fraction)"
        )
    return TaskData(training, rows, task.collect_labels({"train": training, **rows}), remarks)


def without_fold(whole: TaskData, part_of: np.ndarray, fold: int) -> TaskData:
    """Without the training rows of one part, which are validated on. `part_of` (N,): each row's part."""
    held_out = part_of == fold
    training = [row for row, out in zip(whole.training, held_out, strict=True) if not out]
    validation = {"fold": [row for row, out in zip(whole.training, held_out, strict=True) if out]}
    return replace(whole, training=training, validation=validation, fold=fold)


@dataclass(frozen=True)
class TaskTokens:
    """The rows as tokens. `training`: one for each version of the rows; `hash`: of all tokens and targets."""

    training: list[Encoded]
    validation: Mapping[str, Encoded]
    lines: list[str]
    hash: str


def encode_task(task: Any, data: TaskData, *, tokenizer: Tokenizer, max_length: int) -> TaskTokens:
    """Encode the rows, and say what they are like: lengths, what is cut, how labels are spread, what is seen twice."""

    def encode(rows: Sequence[Row]) -> Encoded:
        return task.encode(rows, tokenizer=tokenizer, max_length=max_length, labels=data.labels)

    training = [encode(rows) for rows in task.versions(data.training)]
    validation = {split: encode(rows) for split, rows in data.validation.items()}
    state = hashlib.blake2b(digest_size=8)
    for encoded in (*training, *validation.values()):
        for array in (
            encoded.tokens,
            encoded.offsets,
            encoded.example_labels,
            encoded.token_labels,
            encoded.span_starts,
        ):
            if array is not None:
                state.update(array.tobytes())
    lines = describe(
        task, {"train": data.training, **data.validation}, {"train": training[0], **validation}, max_length=max_length
    )
    return TaskTokens(training, validation, lines, state.hexdigest())
