"""Answers as stretches of tokens: where the windows of a long text lie, and the best span by a model's logits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptcli.task.encoded import Encoded
from ptcli.task.rows import Row

_NOTHING = (-np.inf, -1, -1)


def best_answers(
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    encoded: Encoded,
    rows: Sequence[Row],
    *,
    no_answer: bool = False,
    threshold: float = 0.0,
    longest: int = 30,
) -> list[dict[str, Any]]:
    """`answer`, its characters `start` and `end` in the context, and its `score`, of logits (N,) at all encoded tokens.

    A span scores the sum of its start's and end's logits; it lies in one window, ends no earlier than it starts and
    has at most `longest` tokens. All such spans are searched, where BERT's code looks at the 20 best starts and ends. A
    row whose windows hold no token of its context gets "".

    With `no_answer` the classification token's sum, the least over the windows, stands for having none (Devlin et al.
    2018, arXiv 1810.04805): `no_answer_score` is how far it lies above the best span, and the answer is "", from -1 to
    -1, where that is more than `threshold`.
    """
    starts, ends, context = encoded.starts, encoded.ends, encoded.context
    assert starts is not None and ends is not None and context is not None, "encoded for another kind of task"
    start_logits, end_logits = (np.asarray(a, np.float64).reshape(-1) for a in (start_logits, end_logits))
    best: list[tuple[float, int, int]] = [_NOTHING] * len(rows)
    null = np.full(len(rows), np.inf)
    classify = encoded.classification_places
    inside = context.astype(bool).copy()
    inside[classify] = False
    for example, row in enumerate(encoded.row_of_example.tolist()):
        begin, end = encoded.offsets[example], encoded.offsets[example + 1]
        null[row] = min(null[row], start_logits[classify[example]] + end_logits[classify[example]])
        score, first, last = best_span(
            start_logits[begin:end], end_logits[begin:end], inside[begin:end], longest=longest
        )
        if score > best[row][0]:
            best[row] = score, int(starts[begin + first]), int(ends[begin + last])
    predictions: list[dict[str, Any]] = []
    for row, (score, start, end), none in zip(rows, best, null.tolist(), strict=True):
        found = bool(np.isfinite(score))
        prediction: dict[str, Any] = {
            "answer": row.texts[-1][start:end] if found else "",
            "start": start,
            "end": end,
            "score": score if found else None,
        }
        if no_answer:
            prediction["no_answer_score"] = none - score if found else None
            if not found or none - score > threshold:
                prediction |= {"answer": "", "start": -1, "end": -1}
        predictions.append(prediction)
    return predictions


def best_span(
    start_logits: np.ndarray, end_logits: np.ndarray, inside: np.ndarray, *, longest: int
) -> tuple[float, int, int]:
    """Score, first and last token of the best span of one window (L,); -inf where no token is `inside`.

    All tokens of a span are inside. Of equal spans the shortest counts, then the first.
    """
    best = _NOTHING
    start_logits = np.where(inside, start_logits, -np.inf)
    end_logits = np.where(inside, end_logits, -np.inf)
    whole = inside.astype(bool)  # of spans with `length` tokens, by start: all are inside
    for length in range(1, min(longest, len(inside)) + 1):
        if length > 1:
            whole = whole[:-1] & inside[length - 1 :]
        if not whole.any():
            break
        scores = np.where(whole, start_logits[: len(whole)] + end_logits[length - 1 :], -np.inf)
        first = int(scores.argmax())
        if scores[first] > best[0]:
            best = float(scores[first]), first, first + length - 1
    return best


def tokens_of_answer(row: Row, starts: np.ndarray, ends: np.ndarray) -> tuple[int, int] | None:
    """The first and the last token that hold a character of the row's first answer; None where there is none."""
    if not row.label or row.label[0].start < 0:
        return None
    answer = row.label[0]
    first = int(np.searchsorted(ends, answer.start, side="right"))
    last = int(np.searchsorted(starts, answer.start + len(answer.text), side="left")) - 1
    return (first, last) if first <= last else None


def windows_of(num_tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Stretches [begin, end) of at most `room` tokens, one every `stride`; together all tokens."""
    windows = []
    begin = 0
    while True:
        end = min(begin + room, num_tokens)
        windows.append((begin, end))
        if end == num_tokens:
            return windows
        begin += min(stride, room)


def without_space(starts: np.ndarray, ends: np.ndarray, text: str) -> np.ndarray:
    """Where each token's first character lies that is no white space; a token of white space alone stays."""
    space = np.fromiter(map(str.isspace, text), bool, len(text))
    if not space.any() or not len(starts):
        return starts
    following = np.arange(len(text) + 1)  # the first character from here on that is no white space
    following[:-1][space] = len(text)
    following = np.minimum.accumulate(following[::-1])[::-1]
    moved = following[starts]
    return np.where(moved < ends, moved, starts).astype(np.int32)
