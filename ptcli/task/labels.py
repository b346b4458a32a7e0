"""The names of a task's labels: as a file writes them, in the order of their numbers, and as predictions call them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ptcli.errors import ConfigError, DataError

_SHOWN = 5  # labels, and rows of each, that a message names


class LabelNames:
    """`given`: all labels, in order; None: whatever the rows hold, sorted. `called`: what each of `given` is called in
    predictions; data may have these, too. None: as the labels.
    """

    def __init__(self, given: Sequence[str | int] | None, *, called: Sequence[str] | None):
        self.given = None if given is None else tuple(str(label) for label in given)
        self.called = None if called is None else tuple(str(name) for name in called)

    def check(self) -> None:
        """Raise ConfigError for names without labels, and for a label that is named twice."""
        if self.called is not None and (self.given is None or len(self.called) != len(self.given)):
            given = "no labels" if self.given is None else f"{len(self.given)} labels"
            raise ConfigError(
                f"task.label_names has {len(self.called)} names for {given}. Give task.labels in the same order."
            )
        if self.given is not None and len(set(self.given)) < len(self.given):
            raise ConfigError(f"task.labels={list(self.given)} names a label twice.")

    def canonical(self, value: Any) -> str:
        """The label that a value is: as text, and what labels are called as the label itself."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        label = str(value).lower() if isinstance(value, bool) else str(value).strip()
        if self.given is not None and self.called is not None and label not in self.given:
            label = dict(zip(self.called, self.given, strict=True)).get(label, label)
        return label

    def unknown(self, labels: Sequence[str]) -> list[str]:
        """Those that `given` lacks."""
        return [] if self.given is None else [label for label in labels if label not in self.given]

    def in_order(self, found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """All labels, in the order of their numbers: as given, else sorted, whole numbers by size.

        `found`: the rows that have each. Raises DataError where a row has a label that `given` lacks.
        """
        if self.given is None:
            return tuple(sorted(found, key=_by_number))
        if unknown := self.unknown(tuple(found)):
            told = "; ".join(f"{label!r} ({_rows(found[label])})" for label in unknown[:_SHOWN])
            raise DataError(f"labels that task.labels={list(self.given)} lacks: {told}. Add them, or mend the rows.")
        return self.given

    def names_of(self, labels: Sequence[str]) -> tuple[str, ...]:
        """What the labels are called in predictions."""
        return tuple(labels) if self.called is None else self.called


def number_of(label: str, numbers: Mapping[str, int], *, source: str) -> int:
    """A label's number. Raises DataError, which names the row at `source`, where the model does not know the label."""
    if label not in numbers:
        raise DataError(f"{source}: the label {label!r} is none of the model's: {', '.join(numbers)}.")
    return numbers[label]


def _rows(sources: Sequence[str]) -> str:
    return f"{len(sources):,} rows: {', '.join([*sources[:_SHOWN], *['...'] * (len(sources) > _SHOWN)])}"


def _by_number(label: str) -> tuple[int, int, str]:
    whole = label.removeprefix("-").isascii() and label.removeprefix("-").isdigit()
    return (0, int(label), label) if whole else (1, 0, label)
