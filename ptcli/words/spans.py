"""Named units from a file of character spans."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError, DataError
from ptcli.words.contract import UNIT_TYPES, Words
from ptcli.words.units import NO_UNITS, cut_at_units

_RULE = 1
_EXAMPLE = '{"document": 0, "spans": [[0, 5, "entity"]]}'


class Spans:
    """Words of another choice, and units that someone else has found: entities and phrases, by character.

    The file holds a JSON object a line: `document` is the number of a document of the corpus, from 0, in its order;
    `spans` are [start, end, type], type `entity` or `phrase`, in characters of its text, end not included. They must
    not overlap. White space at either end of one is left out of it, and a word is cut where a unit begins or ends
    inside it, so that units are of whole words (ERNIE's units, arXiv 1904.09223).
    """

    needs_gold_words = False
    makes_units = True
    unit_types = UNIT_TYPES

    def __init__(self, *, path: str | None, base: Words):
        if isinstance(base, str):
            raise ConfigError(f"words.base={base} is a choice of words: type words@words.base={base}.")
        self.path = path
        self.base = base
        self._units: dict[int, np.ndarray] | None = None

    def check(self) -> None:
        """Raise ConfigError where the file is absent or its first line is of another form."""
        self.base.check()
        if self.base.needs_gold_words or self.base.makes_units:
            raise ConfigError("words.base must be a plain choice of words. Use words@words.base=unicode or =chinese.")
        file = self._file()
        try:
            with file.open(encoding="utf-8") as lines:
                _read(next((line for line in lines if line.strip()), ""), "its first line")
        except (OSError, UnicodeDecodeError, DataError) as error:
            raise ConfigError(f"words.path={self.path} cannot be used: {error} A line is {_EXAMPLE}") from error

    def spans(self, document: Document) -> np.ndarray:
        """The words of the document's text, int32 (n, 2)."""
        units = self._of(document)
        here = units[(units[:, 1] > document.start) & (units[:, 0] < document.start + len(document.text))]
        return cut_at_units(self.base.spans(document), here - [document.start, document.start, 0])

    def units(self, document: Document) -> np.ndarray:
        """The units of a whole document, int32 (n, 3). Raises DataError where one lies outside its text."""
        units = self._of(document)
        text = document.text
        if units.size and units[:, 1].max() > len(text):
            raise DataError(
                f"{self.path}: a span of document {document.number} ends at {units[:, 1].max()}, but its text "
                f"({document.source or 'no source'}) has {len(text):,} characters. Is the file for another corpus?"
            )
        trimmed = [
            (start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()), kind)
            for start, end, kind in units.tolist()
            if (part := text[start:end]).strip()
        ]
        return np.array(trimmed, np.int32) if trimmed else NO_UNITS

    def identity(self) -> dict[str, Any]:
        """The rule, the words and the file's content."""
        content = hashlib.blake2b(self._file().read_bytes(), digest_size=16).hexdigest()
        return {"words": "spans", "rule": _RULE, "base": self.base.identity(), "content": content}

    def _of(self, document: Document) -> np.ndarray:
        assert document.number >= 0, "documents are numbered before their units are asked for"
        if self._units is None:
            self._units = _load(self._file())
        return self._units.get(document.number, NO_UNITS)

    def _file(self) -> Path:
        if not self.path:
            raise ConfigError(f"words=spans needs words.path=FILE, a line for each document: {_EXAMPLE}")
        file = Path(str(self.path)).expanduser()
        if not file.is_file():
            raise ConfigError(f"words.path={self.path} is no file. Give a file with lines like {_EXAMPLE}")
        return file


def _load(file: Path) -> dict[int, np.ndarray]:
    found: dict[int, np.ndarray] = {}
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                document, units = _read(line, f"{file}:{number}")
                if document in found:
                    raise DataError(f"{file}:{number}: document {document} has a line already. Join the two.")
                found[document] = units
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8: {error}. Convert it: iconv -t UTF-8") from error
    return found


def _read(line: str, where: str) -> tuple[int, np.ndarray]:
    """The document and its units, ascending."""
    try:
        content = json.loads(line)
        document, spans = content["document"], content["spans"]
        units = [(start, end, UNIT_TYPES.index(kind)) for start, end, kind in spans]
        numbers = [document, *(number for unit in units for number in unit)]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError("numbers must be whole and not negative")
    except (KeyError, TypeError, ValueError) as error:
        types = " or ".join(UNIT_TYPES)
        raise DataError(f"{where} is not like {_EXAMPLE}, with types {types}: {error!r}.") from error
    units.sort()
    for before, after in zip([(0, 0, 0), *units], units, strict=False):
        if not before[1] <= after[0] < after[1]:
            raise DataError(
                f"{where}: the span {list(after[:2])} of document {document} is empty or overlaps {list(before[:2])}. "
                "Keep the one that matters more."
            )
    return document, np.array(units, np.int32).reshape(-1, 3)
