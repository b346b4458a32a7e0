"""The frame that Project Gutenberg puts around its books: licence, credits and the lines that mark the text."""

import re
from collections.abc import Callable, Iterator

_START = re.compile(r"\s*\*{3}\s*START OF (THE|THIS) PROJECT GUTENBERG E", re.IGNORECASE)
_END = re.compile(r"\s*(\*{3}\s*END OF (THE|THIS) PROJECT GUTENBERG E|End of (The )?Project Gutenberg)", re.IGNORECASE)
_LONGEST_HEAD = 2000  # lines


def without_frame(lines: Iterator[str], *, on_missing: Callable[[], None]) -> Iterator[str]:
    """The lines of a book between the marks. Without a first mark nothing is removed and `on_missing` is called.

    Lines before the mark become empty ones, so that line numbers stay true.
    """
    head: list[str] = []
    for line in lines:
        head.append(line)
        if _START.match(line):
            ends = line.rstrip().endswith("***")
            yield from ("" for _ in head)
            yield from _until_end(lines, mark_goes_on=not ends)
            return
        if len(head) == _LONGEST_HEAD:
            break
    on_missing()
    yield from head
    yield from lines


def _until_end(lines: Iterator[str], *, mark_goes_on: bool) -> Iterator[str]:
    for line in lines:
        if mark_goes_on:  # a long title is wrapped, mark and all
            mark_goes_on = bool(line.strip()) and not line.rstrip().endswith("***")
            yield ""
        elif _END.match(line):
            return
        else:
            yield line
