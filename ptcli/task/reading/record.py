"""A row of any table, before a kind of task makes a Row of it: values by the names or numbers of their columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = object()
"""What `Record.find` gives where there is no such column."""

_PLACE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Record:
    """`values` in the order of the columns. `named`: they have names of their own; else they are "0", "1", ..."""

    values: dict[str, Any]
    source: str  # file:line, for messages
    named: bool = True

    def find(self, column: Any) -> Any:
        """The value of a column as settings name it (ptcli.task.settings.Column); MISSING where there is none."""
        candidates = _candidates(column)
        names = [one for one in candidates if isinstance(one, str)]
        for one in names if self.named and names else candidates:
            found = self._number(one) if isinstance(one, int) else self._name(one)
            if found is not MISSING:
                return found
        return MISSING

    def _number(self, number: int) -> Any:
        if self.named:
            values = list(self.values.values())
            return values[number] if -len(values) <= number < len(values) else MISSING
        place = number if number >= 0 else len(self.values) + number
        return self.values.get(str(place), MISSING)

    def _name(self, name: str) -> Any:
        if name in self.values:
            return self.values[name] if self.named else MISSING
        if _PLACE.search(name):
            parts = {one: self._name(one) for one in _PLACE.findall(name)}
            missing = any(part is MISSING for part in parts.values())
            return MISSING if missing else _PLACE.sub(lambda found: str(parts[found[1]]), name)
        node: Any = self.values
        for step in name.split("."):
            node = node.get(step, MISSING) if isinstance(node, dict) else MISSING
        return node


def column_names(columns: Sequence[Any]) -> set[str]:
    """The names that a header must have one of, to be one: those of some columns."""
    return {part for column in columns for one in _candidates(column) if isinstance(one, str) for part in _parts(one)}


def told(column: Any) -> str:
    """A column in words."""
    return " or ".join(f"{one}" if isinstance(one, str) else f"number {one}" for one in _candidates(column))


def _parts(name: str) -> Iterator[str]:
    yield from _PLACE.findall(name) or [name]


def _candidates(column: Any) -> list[str | int]:
    if column is None:
        return []
    return list(column) if isinstance(column, Sequence) and not isinstance(column, str) else [column]
