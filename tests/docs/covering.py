"""Rows of choices, one of each slot, in which every pair that goes together stands at least once."""

import itertools
import random
from collections.abc import Sequence

import numpy as np
from writers.combinations import Choice, together

from ptcli.config.fit import fit

CANDIDATES = 8  # rows that are tried for each row that is kept


def covering_array(columns: Sequence[Sequence[Choice]]) -> list[list[Choice]]:
    """The rows, the same ones in every process; a pair that stands in no accepted row is left out.

    Greedy: each row begins with a pair that no row holds yet, and takes in each column the choice that adds most new
    pairs. Of several such rows, which go through the columns in different orders, the one that adds most is kept.
    """
    return _Rows(columns).all()


class _Rows:
    """The choices by number, the pairs that go together and those among them that no row holds yet."""

    def __init__(self, columns: Sequence[Sequence[Choice]]):
        self.choices = [choice for column in columns for choice in column]
        ends = list(itertools.accumulate(len(column) for column in columns))
        self.columns = [np.arange(end - len(column), end) for column, end in zip(columns, ends, strict=True)]
        self.column_of = [at for at, column in enumerate(columns) for _ in column]
        self.goes = np.zeros((len(self.choices), len(self.choices)), dtype=bool)
        for one, other in itertools.combinations(range(len(self.choices)), 2):
            if self.column_of[one] != self.column_of[other]:
                self.goes[one, other] = self.goes[other, one] = self._fits([one, other])
        self.missing = self.goes.copy()
        self.random = random.Random(1)

    def all(self) -> list[list[Choice]]:
        rows = []
        while self.missing.any():
            found = [row for _ in range(CANDIDATES) if (row := self._candidate(self._pair())) and self._fits(row)]
            if found:
                row = max(found, key=lambda row: self.missing[np.ix_(row, row)].sum())
            else:  # three choices do not go together, each two of which do
                pair = self._pair()
                row = self._searched(pair)
            if row is None:
                self._strike(pair)
            else:
                self._strike(row)
                rows.append([self.choices[number] for number in sorted(row)])
        return rows

    def _pair(self) -> list[int]:
        """A missing pair of a choice that has most of them."""
        counts = self.missing.sum(1)
        one = self.random.choice(np.flatnonzero(counts == counts.max()).tolist())
        return [one, self.random.choice(np.flatnonzero(self.missing[one]).tolist())]

    def _open(self, row: list[int]) -> list[int]:
        """The columns that have no choice in a row, in an order drawn at random."""
        columns = sorted(set(range(len(self.columns))) - {self.column_of[number] for number in row})
        self.random.shuffle(columns)
        return columns

    def _candidate(self, row: list[int]) -> list[int] | None:
        for column in self._open(row):
            best = self._best(column, row)
            if not best:
                return None
            row = [*row, best[0]]
        return row

    def _searched(self, row: list[int]) -> list[int] | None:
        """A whole accepted row, every choice tried; None where there is none.

        It goes on with the column that has fewest choices left, so that one with none ends the search at once.
        """
        if len(row) == len(self.columns):
            return row
        left = [[c for c in self._best(column, row) if self._fits([*row, c])] for column in self._open(row)]
        for choice in min(left, key=len):
            if whole := self._searched([*row, choice]):
                return whole
        return None

    def _best(self, column: int, row: list[int]) -> list[int]:
        """The choices of a column that go with each of a row, the one that adds most new pairs first."""
        choices = self.columns[column]
        choices = choices[self.goes[np.ix_(choices, row)].all(1)]
        gains = self.missing[np.ix_(choices, row)].sum(1)
        return choices[np.argsort(-gains, kind="stable")].tolist()

    def _fits(self, row: list[int]) -> bool:
        return fit(together(*(self.choices[number] for number in row))) == []

    def _strike(self, row: list[int]) -> None:
        self.missing[np.ix_(row, row)] = False
