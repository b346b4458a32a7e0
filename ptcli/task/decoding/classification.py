"""Predictions of one class a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.decoding.probabilities import softmax


def decode(logits: np.ndarray, *, labels: Sequence[str]) -> list[dict[str, Any]]:
    """`label`, its `probability`, and all `probabilities` by label, of logits (N, C) with one row an example."""
    table = softmax(np.asarray(logits).reshape(-1, len(labels)))
    return [
        {
            "label": labels[best],
            "probability": float(row[best]),
            "probabilities": dict(zip(labels, row.tolist(), strict=True)),
        }
        for row, best in zip(table, table.argmax(axis=1).tolist(), strict=True)
    ]
