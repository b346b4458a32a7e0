"""Rows and predictions in a line, for the tests of metrics and decoding."""

from typing import Any

from ptcli.task.rows import Answer, Row


def rows_of(*labels: Any, groups: Any = None) -> list[Row]:
    """A row for each label."""
    groups = groups or [None] * len(labels)
    return [
        Row(index=i, texts=(f"text {i}",), label=label, group=group, source=f"rows.tsv:{i + 1}")
        for i, (label, group) in enumerate(zip(labels, groups, strict=True))
    ]


def tagged(*sentences: str) -> list[Row]:
    """Rows of tags; the words are numbers."""
    tags = [tuple(sentence.split()) for sentence in sentences]
    return [
        Row(index=i, texts=(), words=tuple(str(n) for n in range(len(own))), label=own, source=f"tags:{i + 1}")
        for i, own in enumerate(tags)
    ]


def questions(*answers: tuple[str, ...] | None) -> list[Row]:
    """Rows with answers; None is unlabelled, () has none."""
    return [
        Row(
            index=i,
            texts=("question", "context"),
            label=None if texts is None else tuple(Answer(text, 0) for text in texts),
        )
        for i, texts in enumerate(answers)
    ]


def classes(*probabilities: float, labels: tuple[str, str] = ("no", "yes")) -> list[dict[str, Any]]:
    """Predictions of two classes by the second one's probability."""
    return [{"probabilities": {labels[0]: 1 - p, labels[1]: p}} for p in probabilities]
