"""Files of lines of text, as every corpus that reads such files needs them."""

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from ptcli.corpus.decoding import DETECT, check_encoding, detect_encoding, read_some_lines
from ptcli.corpus.files import content_identity, find_files
from ptcli.corpus.packed import File, members


class LineFiles:
    """The files that a corpus.path names, also packed or in a zip, and their lines.

    `encoding` is one for all, or "detect": each file's own. `endings` are those looked for in folders and zips.
    """

    def __init__(self, path: str | Sequence[str] | None, *, endings: Sequence[str], encoding: str):
        self.path = path
        self.endings = endings
        self.encoding = encoding
        self._detected: Counter[str] = Counter()

    @cached_property
    def _found(self) -> tuple[list[Path], list[str]]:
        return find_files(self.path, endings=self.endings)

    @cached_property
    def _members(self) -> tuple[list[File], list[str]]:
        return members(self._found[0], endings=self.endings)

    def check(self) -> None:
        """Raise ConfigError where the path names no text or the encoding is none."""
        check_encoding(self.encoding)
        _ = self._members

    def __iter__(self) -> Iterator[File]:
        """The files, in a fixed order; a new pass counts anew."""
        self._detected.clear()
        yield from self._members[0]

    def lines(self, file: File) -> Iterator[str]:
        """The lines of a file, without their ends. Raises DataError where its bytes are no text."""
        return chain.from_iterable(self.some_lines(file))

    def some_lines(self, file: File) -> Iterator[list[str]]:
        """The same, many at a time: for what goes through all of them fast."""
        encoding = self.encoding
        if encoding == DETECT:
            encoding = detect_encoding(file)
            self._detected[encoding] += 1
        return read_some_lines(file, encoding=encoding)

    def identity(self, *, read: bool) -> dict[str, Any]:
        """What the files hold and in which encoding; where they lie does not count. `read` as in content_identity."""
        named = self.encoding if self.encoding == DETECT else codecs.lookup(self.encoding).name
        return {"encoding": named, **content_identity(self._found[0], read=read)}

    def remarks(self) -> list[str]:
        """Files left out, and encodings that were detected and are not UTF-8."""
        other = [f"{number} files are read as {name}" for name, number in self._detected.items() if name != "utf-8"]
        return [*self._found[1], *self._members[1], *other]
