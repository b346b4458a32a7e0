"""What becomes of rows that cannot be used: they stop the reading, or are left out, counted and named."""

from ptcli.errors import DataError

_NAMED = 3  # rows that are named where some are left out


class UnusableError(Exception):
    """Raised by whoever reads a row and finds it unusable; the message says why, beginning with a verb."""


class BadRows:
    """`skip`: count and leave out bad rows; otherwise the first one raises DataError."""

    def __init__(self, *, skip: bool = False):
        self.skip = skip
        self.begin()

    def begin(self) -> None:
        """A new split counts anew."""
        self._found: list[str] = []

    def add(self, source: str, reason: str) -> None:
        """The row at `source` cannot be used: `reason` follows its name in the message."""
        if not self.skip:
            raise DataError(f"{source} {reason}. Mend the row, or type task.skip_bad_rows=true to leave such rows out.")
        self._found.append(f"{source} {reason}")

    def remarks(self) -> list[str]:
        """How many were left out, and which."""
        if not self._found:
            return []
        more = f"; and {len(self._found) - _NAMED:,} more" if len(self._found) > _NAMED else ""
        return [f"{len(self._found):,} bad rows are left out: {'; '.join(self._found[:_NAMED])}{more}"]
