"""A visiting order in which the rows of a micro-batch are of like length, so that little of it is padding."""

from collections.abc import Callable

import numpy as np

from ptcli.randomness import draw, permute

_WINDOW = 64  # groups among which rows are sorted: more would leave less to chance and hardly less padding


class LengthGroups:
    """The rows [0, `num_rows`) in groups of `size`, consecutive from the first on; the last group may be smaller.

    Rows are shuffled, sorted by length within windows of 64 groups, and the groups of a window shuffled again: a pure
    function of (key, lengths, size), of which any part is computed without the rest. `lengths_of` gives the lengths
    of rows.
    """

    def __init__(
        self, *, num_rows: int, size: int, key: np.uint64, lengths_of: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.num_rows, self.size = num_rows, size
        self._key, self._lengths_of = key, lengths_of
        self._newest = (-1, np.empty(0, np.int64))  # the window read last, by number

    def rows(self, first: int, last: int) -> np.ndarray:
        """Row numbers at places [first, last) of the visiting order, int64."""
        width = _WINDOW * self.size
        windows = range(first // width, -(-last // width))
        parts = [self._window(w)[max(first - w * width, 0) : last - w * width] for w in windows]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def left(self, place: int) -> int:
        """Rows from a place to the end of its group."""
        return min(self.size - place % self.size, self.num_rows - place)

    def _window(self, number: int) -> np.ndarray:
        if self._newest[0] != number:
            width = _WINDOW * self.size
            places = np.arange(number * width, min((number + 1) * width, self.num_rows), dtype=np.int64)
            rows = permute(places, self.num_rows, self._key)
            rows = rows[np.argsort(self._lengths_of(rows), kind="stable")]
            count = len(rows) // self.size
            groups = rows[: count * self.size].reshape(count, self.size)
            shuffled = permute(np.arange(count), count, np.uint64(draw(self._key, np.uint64(number))))
            self._newest = (number, np.concatenate([groups[shuffled].ravel(), rows[count * self.size :]]))
        return self._newest[1]
