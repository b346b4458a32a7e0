"""Predictions of any number of classes a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.decoding.probabilities import sigmoid


def decode(logits: np.ndarray, *, labels: Sequence[str], threshold: float = 0.5) -> list[dict[str, Any]]:
    """`labels` whose probability is `threshold` or more, and all `probabilities` by label, of logits (N, C)."""
    table = sigmoid(np.asarray(logits).reshape(-1, len(labels)))
    return [
        {
            "labels": [label for label, probability in zip(labels, row, strict=True) if probability >= threshold],
            "probabilities": dict(zip(labels, row, strict=True)),
        }
        for row in table.tolist()
    ]
