"""One class of several for each text."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.task.encoded import IGNORE_INDEX, Encoded
from ptcli.task.labels import number_of
from ptcli.task.metrics import classification as metrics
from ptcli.task.probabilities import softmax
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.texts import TextTask


class Classification(TextTask):
    """A text has one label of several. Settings are TextTask's and Task's."""

    num_texts = 1
    target = "class"
    has_labels = True
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("accuracy", "f1_macro")

    def __init__(self, *, pair: Column = None, **settings: Unpack[TaskSettings]):
        super().__init__(pair=pair, **settings)

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> str:
        """The label's name."""
        return self.names.canonical(value)

    def targets(self, rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
        """Numbers of the labels, int64 (R,)."""
        return class_numbers(rows, labels)

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`label`, its `probability`, and all `probabilities` by label, of `logits` (R, C)."""
        table = softmax(outputs["logits"].reshape(-1, len(labels)))
        return [
            {
                "label": labels[best],
                "probability": float(row[best]),
                "probabilities": dict(zip(labels, row.tolist(), strict=True)),
            }
            for row, best in zip(table, table.argmax(axis=1).tolist(), strict=True)
        ]

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows, labels=labels)


def class_numbers(rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
    """The number of each row's label, int64 (R,); IGNORE_INDEX where it has none."""
    numbers = {label: number for number, label in enumerate(labels)}
    found = [IGNORE_INDEX if row.label is None else number_of(row.label, numbers, source=row.source) for row in rows]
    return np.array(found, np.int64)
