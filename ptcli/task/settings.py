"""The settings that all kinds of tasks share."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

Column = str | int | Sequence[str | int] | None
"""A column of a table: its name, its number from 0, or several of these of which a file has one.

A name with points leads into an object (`target.span1_text`); one with braces is a text with columns in it
(`{word}: {sentence1}`). Numbers are for files without names; where names are given, too, for those alone.
"""


class ModelSettings(TypedDict, total=False):
    """What is put on a model for the task: the arguments of TaskObjective and of ptcli.task.initialise, which say what
    they mean. A kind holds them and does nothing with them.
    """

    head: Any
    pooling: Any
    adversarial: Any
    mix_layers: int | None
    r_drop: float | None
    label_smoothing: float
    class_weights: Sequence[float] | None
    reinitialise_layers: int
    freeze_layers: int
    freeze_embeddings: bool


class TaskSettings(ModelSettings, total=False):
    """The arguments of Task, which says what they mean: kinds take them beside their own."""

    path: str | Sequence[str] | None
    name: str | None
    subset: str | None
    revision: str | None
    format: str
    splits: Mapping[str, str | Sequence[str]] | None
    hub_splits: Mapping[str, str | Sequence[str]]
    delimiter: str
    quote: str | None
    header: bool | None
    encoding: str
    where: Mapping[str, Any]
    skip_bad_rows: bool
    text: Column
    label: Column
    id: Column
    group: Column
    labels: Sequence[str | int] | None
    label_names: Sequence[str] | None
    metrics: Sequence[str]
    best_metric: str | None
    validation_fraction: float
