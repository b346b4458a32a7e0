"""Any number of classes for each text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.errors import ConfigError
from ptcli.task.encoded import Encoded
from ptcli.task.labels import number_of
from ptcli.task.metrics import multi_label as metrics
from ptcli.task.probabilities import sigmoid
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.texts import TextTask


class MultiLabel(TextTask):
    """A text, or two, have any number of labels; none is a label, too. Settings are TextTask's and Task's, and:

    Args:
        label_separator: between labels where a table's column holds several as text; the text "[]" has none. Lists of
            JSON lines and Parquet need none.
        threshold: the probability from which on a label is predicted, in (0, 1).
    """

    num_texts = 2
    target = "classes"
    has_labels = True
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("f1_micro", "f1_macro")

    def __init__(
        self,
        *,
        pair: Column = None,
        apart: bool = False,
        swap_pairs: bool = False,
        label_separator: str = ",",
        threshold: float = 0.5,
        **settings: Unpack[TaskSettings],
    ):
        super().__init__(pair=pair, apart=apart, swap_pairs=swap_pairs, **settings)
        self.label_separator, self.threshold = label_separator, threshold

    def check(self) -> None:
        if not self.label_separator:
            raise ConfigError(
                'task.label_separator is empty. Write what stands between labels: task.label_separator=","'
            )
        if not 0 < self.threshold < 1:
            raise ConfigError(f"task.threshold={self.threshold} must lie in (0, 1), such as 0.5.")
        super().check()

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> tuple[str, ...]:
        """Names of the labels, each once, in their order there."""
        if isinstance(value, str):
            text = value.strip()
            value = json.loads(text) if text == "[]" else text.split(self.label_separator)
        if not isinstance(value, list):
            value = [value]
        if any(isinstance(each, dict | list) or each is None for each in value):
            raise UnusableError(f"has no labels but {str(value)[:40]}")
        return tuple(dict.fromkeys(self.names.canonical(each) for each in value if str(each).strip()))

    def targets(self, rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
        """Which labels each row has, float32 (R, C)."""
        numbers = {label: number for number, label in enumerate(labels)}
        table = np.zeros((len(rows), len(labels)), np.float32)
        for place, row in enumerate(rows):
            if row.label is None:
                table[place] = np.nan
            else:
                table[place, [number_of(label, numbers, source=row.source) for label in row.label]] = 1
        return table

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`labels` whose probability reaches the threshold, and all `probabilities` by label, of `logits` (R, C)."""
        return [
            {
                "labels": [
                    label for label, probability in zip(labels, row, strict=True) if probability >= self.threshold
                ],
                "probabilities": dict(zip(labels, row, strict=True)),
            }
            for row in sigmoid(outputs["logits"].reshape(-1, len(labels))).tolist()
        ]

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows, labels=labels)
