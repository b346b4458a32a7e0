"""The text of a row of a table."""

import re
from collections.abc import Iterable
from typing import Any

from ptcli.corpus.document import Document
from ptcli.errors import DataError

_SURROGATE = re.compile(r"[\ud800-\udfff]")


class TextColumn:
    """Documents from one column. Rows where it is null or blank are counted and give none; half surrogate pairs
    ("\\ud83d" alone) become U+FFFD and are counted."""

    def __init__(self, name: str):
        self.name = name
        self.begin()

    def begin(self) -> None:
        """A new pass counts anew."""
        self._without_text = self._repaired = 0

    def document(self, text: Any, *, source: str, columns: Iterable[str]) -> Document | None:
        """The document of a value; None where there is no text. Raises DataError where it is no string."""
        if text is not None and not isinstance(text, str):
            raise DataError(
                f"{source}: {self.name} is {str(text)[:60]}, not a string. "
                f"Choose another column by corpus.text_key: {', '.join(columns)}."
            )
        if text is None or not text.strip():
            self._without_text += 1
            return None
        text, repaired = _SURROGATE.subn("\ufffd", text)
        self._repaired += repaired > 0
        return Document(text.replace("\r\n", "\n").strip(), source=source)

    def missing(self, columns: Iterable[str], *, source: str) -> str:
        """What is said where there is no such column."""
        return (
            f"{source} has no column {self.name}. The columns there: {', '.join(map(str, columns)) or 'none'}. "
            "Name one: corpus.text_key=COLUMN"
        )

    def remarks(self) -> list[str]:
        """Rows left out and repaired."""
        return [
            *([f"{self._without_text} rows have no {self.name}"] if self._without_text else []),
            *([f"{self._repaired} rows held half surrogate pairs, now U+FFFD"] if self._repaired else []),
        ]
