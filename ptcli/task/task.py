"""What all kinds of tasks share: rows, their labels in one order, token ids and back, and metrics."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError, DataError
from ptcli.task.encoded import Encoded
from ptcli.task.labels import LabelNames
from ptcli.task.metrics.score import Metric, Score, chosen, measure
from ptcli.task.reading.record import told
from ptcli.task.reading.rows_of_task import RowsOfTask
from ptcli.task.reading.source import Source
from ptcli.task.rows import Row
from ptcli.task.settings import ModelSettings, TaskSettings
from ptcli.tokenizer.tokenizer import Tokenizer


class Task(RowsOfTask):
    """A task: where its rows are, which columns they have, what is predicted of them, and what that is worth.

    Args:
        path, name, subset, revision, format, splits, hub_splits, delimiter, quote, header, encoding, where,
            skip_bad_rows: as in ptcli.task.reading.source.Source.
        text, label, id, group: columns (ptcli.task.settings.Column). The rows of a group stay together in splits.
        labels: all labels, in order; None: those of all splits, sorted.
        label_names: what each of `labels` is called in predictions; data may have these, too. None: as the labels.
        metrics: names of the kind's METRICS, in ptcli.task.metrics; [] for the kind's own choice.
        best_metric: the one that says which weights are best; None: the first.
        head, pooling, ...: ptcli.task.settings.ModelSettings, kept in `on_model`.
        validation_fraction: share of the training rows, in (0, 1), that is split off where no validation split is.
    """

    num_texts: int | str = 1  # 1, 2, or "choices"
    target: str = ""  # what is predicted: see ptcli.task.rows.Row
    has_labels = False  # whether labels have names
    is_task = True
    apart = False  # whether the texts of a pair are encoded apart
    metrics_of_kind: Mapping[str, Metric] = {}
    usual_metrics: tuple[str, ...] = ()

    def __init__(self, **settings: Unpack[TaskSettings]):
        given: dict[str, Any] = dict(settings)
        columns = {key: given.pop(key, usual) for key, usual in _USUAL_COLUMNS.items()}
        self.names = LabelNames(given.pop("labels", None), called=given.pop("label_names", None))
        self.metrics = tuple(given.pop("metrics", None) or self.usual_metrics)
        self.best_metric: str = given.pop("best_metric", None) or (self.metrics[0] if self.metrics else "")
        self.validation_fraction: float = given.pop("validation_fraction", 0.1)
        self.on_model = {key: given.pop(key) for key in ModelSettings.__annotations__ if key in given}
        self.settled: dict[str, float] = {}  # what `settle` has chosen; it is kept with the model
        super().__init__(Source(**given), **columns)

    def check(self) -> None:
        """Raise ConfigError where a setting is out of its range or nothing can be read."""
        if not 0 < self.validation_fraction < 1:
            raise ConfigError(f"task.validation_fraction={self.validation_fraction} must lie in (0, 1), such as 0.1.")
        self.names.check()
        if not self.has_labels and self.labels is not None:
            raise ConfigError("task.labels does nothing in a task whose answers are no classes. Leave it out.")
        chosen(self.metrics_of_kind, self.metrics)
        if self.best_metric not in self.metrics:
            names = ", ".join(self.metrics)
            raise ConfigError(
                f"task.best_metric={self.best_metric} is not measured. Choose from task.metrics: {names}."
            )
        self.source.check()

    def versions(self, rows: Sequence[Row]) -> list[Sequence[Row]]:
        """The rows, and other ways to put them of which training draws one in each epoch."""
        return [rows]

    # labels

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels that the settings list; None: whatever the rows have."""
        return self.names.given

    def labels_of(self, row: Row) -> tuple[str, ...]:
        """The names in a row's label; () where it has none, or is no name."""
        if row.label is None or not self.has_labels:
            return ()
        return (row.label,) if isinstance(row.label, str) else tuple(row.label)

    def unknown_labels(self, row: Row) -> list[str]:
        return self.names.unknown(self.labels_of(row))

    def collect_labels(self, splits: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
        """All labels of the splits' rows, in the order of their numbers.

        Raises DataError where a row has a label that `labels` lacks, or where there are fewer than two.
        """
        if not self.has_labels:
            return ()
        found: dict[str, list[str]] = {}
        for rows in splits.values():
            for row in rows:
                for label in self.labels_of(row):
                    found.setdefault(label, []).append(row.source)
        if self.labels is None and len(found) < 2 and self.target == "class":
            raise DataError(
                f"the rows have {len(found)} different labels ({', '.join(found)}): there is nothing to learn. Is "
                f"{told(self.label)} the column of the labels? Name it: task.label=COLUMN."
            )
        return self.names.in_order(found)

    def names_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        """What the labels are called in predictions."""
        return self.names.names_of(labels)

    # to tokens, and back

    @abstractmethod
    def encode(
        self, rows: Sequence[Row], *, tokenizer: Tokenizer, max_length: int, labels: Sequence[str] = ()
    ) -> Encoded:
        """The rows as tokens, examples of at most `max_length`. Labels are numbered by their places in `labels`.

        Raises ConfigError where max_length leaves no room for a token of text.
        """

    @abstractmethod
    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """A prediction for each row, in their order, of what the objective predicts for the examples."""

    @property
    def is_to_settle(self) -> bool:
        """Whether `settle` has something to choose: it costs the answers to all validation rows."""
        return False

    def settle(self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row]) -> list[str]:
        """Choose, by the validation rows, what is left to them (`settled`); what it is, a line each."""
        return []

    # metrics

    @abstractmethod
    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        """Truth and predictions of the labelled rows, of which metrics are functions."""

    def score(
        self,
        predictions: Sequence[Mapping[str, Any]],
        rows: Sequence[Row],
        *,
        labels: Sequence[str] = (),
        resamples: int = 0,
    ) -> dict[str, Score]:
        """The task's metrics over the labelled rows, with bootstrap intervals where `resamples` is not 0.

        Rows of one group, where a column names it, are drawn together.
        """
        outcomes = self.outcomes(predictions, rows, labels=labels)
        return measure(
            outcomes,
            chosen(self.metrics_of_kind, self.metrics),
            groups=None if self.group is None else self.groups_of([row for row in rows if row.label is not None]),
            resamples=resamples,
        )

    def groups_of(self, rows: Sequence[Row]) -> np.ndarray | None:
        """A number for each row, the same within a group: int64 (R,); None where groups themselves are measured."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(self.group_of(row), len(numbers)) for row in rows], np.int64)


_USUAL_COLUMNS = {"text": "text", "label": "label", "id": None, "group": None}
