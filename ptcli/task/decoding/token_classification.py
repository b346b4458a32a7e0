"""Predictions of a tag a word."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.decoding.probabilities import softmax
from ptcli.task.encoded import Encoded
from ptcli.task.metrics.entities import entities, have_entities, repaired
from ptcli.task.rows import Row

OUTSIDE = "O"


def decode(
    logits: np.ndarray,
    encoded: Encoded,
    rows: Sequence[Row],
    *,
    labels: Sequence[str],
    repair: bool = False,
    separator: str = " ",
) -> list[dict[str, Any]]:
    """`tags` and their `probabilities`, one a word, of logits (T, C) at the encoded `token_positions`.

    Words that no token stands for (cut off, or without a piece) are `unread`, counted: their tag is O where the labels
    have one, else "", and their probability 0. `entities` are added where the labels mark some: type, first and last
    word, and the text, words joined by `separator`. With `repair` an I- that continues nothing becomes a B- of its type
    (IOB2 only).
    """
    positions, words = encoded.token_positions, encoded.token_words
    assert positions is not None and words is not None, "encoded for another kind of task"
    table = softmax(np.asarray(logits).reshape(-1, len(labels)))
    best = table.argmax(axis=1)
    row_of = encoded.row_of_example[np.searchsorted(encoded.offsets, positions, side="right") - 1]
    outside = OUTSIDE if OUTSIDE in labels else ""
    tags = [[outside] * len(row.words) for row in rows]
    sure = [[0.0] * len(row.words) for row in rows]
    unread = np.array([len(row.words) for row in rows], np.int64) - np.bincount(row_of, minlength=len(rows))
    for row, word, number, probability in zip(
        row_of.tolist(), words.tolist(), best.tolist(), table.max(axis=1).tolist(), strict=True
    ):
        tags[row][word], sure[row][word] = labels[number], probability
    marked = have_entities(labels)
    predictions: list[dict[str, Any]] = []
    for row, own, probabilities, missing in zip(rows, tags, sure, unread.tolist(), strict=True):
        own = repaired(own) if repair else own
        prediction = {"tags": own, "probabilities": probabilities, "unread": missing}
        if marked:
            prediction["entities"] = [
                {
                    "type": kind,
                    "first_word": first,
                    "last_word": last,
                    "text": separator.join(row.words[first : last + 1]),
                }
                for kind, first, last in entities(own)
            ]
        predictions.append(prediction)
    return predictions
