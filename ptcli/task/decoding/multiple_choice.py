"""Predictions of one choice among those of a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.decoding.probabilities import softmax
from ptcli.task.encoded import Encoded
from ptcli.task.rows import Row


def decode(logits: np.ndarray, encoded: Encoded, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """`choice` (from 0), its `text`, and the `probabilities` of the row's choices, of logits (E,), one a choice."""
    scores = np.asarray(logits).reshape(-1)
    parts = np.searchsorted(encoded.row_of_example, np.arange(len(rows) + 1))
    predictions: list[dict[str, Any]] = []
    for row, begin, end in zip(rows, parts[:-1], parts[1:], strict=True):
        assert end - begin == len(row.choices), f"{end - begin} examples for {len(row.choices)} choices"
        probabilities = softmax(scores[begin:end])
        choice = int(probabilities.argmax())
        predictions.append(
            {"choice": choice, "text": row.choices[choice], "probabilities": probabilities.tolist()},
        )
    return predictions
