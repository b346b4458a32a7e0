"""What the rows of a task are like, before anything is trained: lengths, labels, and what is in two splits at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ptcli.task.encoded import Encoded
from ptcli.task.rows import Row

_MOST_LABELS = 12  # whose counts are told
_NAMED = 5


class Described(Protocol):
    """What is asked of a kind of task."""

    target: str

    def labels_of(self, row: Row) -> tuple[str, ...]:
        """The names in a row's label."""
        ...


def describe(
    task: Described, splits: Mapping[str, Sequence[Row]], encoded: Mapping[str, Encoded], *, max_length: int
) -> list[str]:
    """Lines on each split, then on what the others share with the first, the one that is trained on."""
    lines: list[str] = []
    for split, rows in splits.items():
        lines += [f"{split}: {line}" for line in (*_sizes(rows, encoded[split], max_length), *_spread(task, rows))]
    first, *others = splits
    for split in others:
        lines += [f"{split}: {line}" for line in overlaps(task, splits[first], splits[split])]
    return lines


def overlaps(task: Described, training: Sequence[Row], other: Sequence[Row]) -> list[str]:
    """Lines on rows whose texts are trained on, too, also in another order, and on labels that training never shows."""
    lines = []
    known: dict[tuple[str, ...], set[str]] = {}
    for row in training:
        known.setdefault(_texts(row), set()).add(str(row.label))
    in_another_order = {tuple(sorted(texts)) for texts in known}
    same = [row for row in other if _texts(row) in known]
    swapped = [row for row in other if _texts(row) not in known and tuple(sorted(_texts(row))) in in_another_order]
    if same:
        differ = sum(row.label is not None and str(row.label) not in known[_texts(row)] for row in same)
        otherwise = f", {differ:,} of them with another label" if differ else ""
        lines.append(
            f"{len(same):,} of {len(other):,} rows have texts that are trained on, too{otherwise}: {_named(same)}"
        )
    if swapped:
        lines.append(f"{len(swapped):,} rows are swapped pairs of rows that are trained on: {_named(swapped)}")
    trained = {label for row in training for label in task.labels_of(row)}
    unseen: dict[str, list[Row]] = {}
    for row in other:
        for label in task.labels_of(row):
            if label not in trained:
                unseen.setdefault(label, []).append(row)
    lines += [
        f"the label {label!r} is never trained on, but {len(rows):,} rows have it: {_named(rows)}"
        for label, rows in unseen.items()
    ]
    return lines


def _sizes(rows: Sequence[Row], encoded: Encoded, max_length: int) -> list[str]:
    lengths = encoded.lengths
    low, middle, high, most = np.percentile(lengths, (5, 50, 95, 100), method="nearest") if len(lengths) else (0,) * 4
    examples = f" in {len(lengths):,} examples" if len(lengths) != len(rows) else ""
    cut = encoded.num_truncated
    told = f"{cut:,} rows are cut ({cut / max(len(rows), 1):.1%})" if cut else "nothing is cut"
    return [
        f"{len(rows):,} rows{examples}; tokens {low} (5 %), {middle} (median), {high} (95 %), {most} (most) of "
        f"max_length={max_length}: {told}",
        *encoded.remarks,
    ]


def _spread(task: Described, rows: Sequence[Row]) -> list[str]:
    labelled = [row for row in rows if row.label is not None]
    lines = [f"{len(rows) - len(labelled):,} rows have no label"] if len(labelled) < len(rows) else []
    if not labelled:
        return lines
    if task.target in ("class", "classes", "tokens"):
        return [*lines, _counted(Counter(label for row in labelled for label in task.labels_of(row)), task.target)]
    if task.target in ("value", "rank"):
        values = np.array([row.label for row in labelled], np.float64)
        return [*lines, f"labels {values.min():g} to {values.max():g}, mean {values.mean():.3g}"]
    if task.target == "choice":
        return [*lines, _counted(Counter(f"choice {row.label + 1}" for row in labelled), task.target)]
    without = sum(not row.label for row in labelled)
    return [*lines, f"{without:,} questions have no answer ({without / len(labelled):.1%})"] if without else lines


def _counted(found: Counter[str], target: str) -> str:
    total = max(found.total(), 1)
    shown = [f"{label} {number:,} ({number / total:.1%})" for label, number in found.most_common(_MOST_LABELS)]
    rare = sum(number for _, number in found.most_common()[_MOST_LABELS:])
    more = f", {len(found) - _MOST_LABELS} others {rare:,}" if len(found) > _MOST_LABELS else ""
    return f"{'tags' if target == 'tokens' else 'labels'}: {', '.join(shown)}{more}"


def _texts(row: Row) -> tuple[str, ...]:
    return (*row.texts, *row.choices, *row.words) if row.choices or row.words else row.texts


def _named(rows: Sequence[Row]) -> str:
    more = ", ..." if len(rows) > _NAMED else ""
    return f"{', '.join(row.source for row in rows[:_NAMED])}{more}"
