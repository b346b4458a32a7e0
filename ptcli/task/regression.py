"""A number for each text or pair of texts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ptcli.task.encoded import Encoded
from ptcli.task.metrics import regression as metrics
from ptcli.task.reading.bad_rows import UnusableError
from ptcli.task.reading.record import Record
from ptcli.task.rows import Row
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.texts import TextTask


class Regression(TextTask):
    """A text, or two, have a number. Settings are TextTask's and Task's; numbers are taken as they are."""

    num_texts = 2
    target = "value"
    metrics_of_kind = metrics.METRICS
    usual_metrics = ("pearson", "spearman")

    def __init__(
        self,
        *,
        pair: Column = None,
        apart: bool = False,
        swap_pairs: bool = False,
        **settings: Unpack[TaskSettings],
    ):
        super().__init__(pair=pair, apart=apart, swap_pairs=swap_pairs, **settings)

    def label_of(self, value: Any, record: Record, row: dict[str, Any]) -> float:
        """The number."""
        return number_in(value)

    def targets(self, rows: Sequence[Row], labels: Sequence[str]) -> np.ndarray:
        """The numbers, float32 (R,)."""
        return np.array([math.nan if row.label is None else row.label for row in rows], np.float32)

    def decode(
        self, outputs: Mapping[str, np.ndarray], encoded: Encoded, rows: Sequence[Row], *, labels: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """`value` of each row, of `values` (R,), as it is: no number is cut to a range."""
        return [{"value": value} for value in outputs["values"].astype(np.float64).tolist()]

    def outcomes(self, predictions: Sequence[Mapping[str, Any]], rows: Sequence[Row], *, labels: Sequence[str]) -> Any:
        return metrics.outcomes_of(predictions, rows)


def number_in(value: Any) -> float:
    """A finite number. Raises UnusableError where the value is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UnusableError(f"has no number but {str(value)[:40]!r} as its label") from None
    if not math.isfinite(number):
        raise UnusableError(f"has {number} as its label")
    return number
