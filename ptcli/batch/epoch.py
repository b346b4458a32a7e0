"""The rows of one pass over the text, and the order in which they are visited."""

from collections.abc import Iterator, Sequence

import numpy as np

from ptcli.batch.collate import TokenShard
from ptcli.batch.groups import LengthGroups
from ptcli.packing.index import Index
from ptcli.randomness import permute
from ptcli.store.documents import Documents


class Epoch:
    """The rows of one data epoch over all shards, in visiting order; with `group_size`, in groups of like length.

    `shards[i]` and `documents[i]` are what `indexes[i]` points into; `data_epoch` is what packing, pair and mask see.
    """

    def __init__(
        self,
        indexes: list[Index],
        key: np.uint64,
        group_size: int | None = None,
        *,
        shards: Sequence[TokenShard],
        documents: Sequence[Documents],
        data_epoch: int,
    ) -> None:
        self.indexes, self.shards, self.documents, self.data_epoch = indexes, shards, documents, data_epoch
        self.first_documents = np.cumsum([0] + [len(each.ranges) for each in documents])[:-1].tolist()
        self.offsets = np.cumsum([0] + [index.num_rows for index in indexes])
        self.num_rows = int(self.offsets[-1])
        self._key = key
        self.groups = None
        if group_size is not None:
            self.groups = LengthGroups(num_rows=self.num_rows, size=group_size, key=key, lengths_of=self.row_tokens)

    def rows(self, first: int, last: int) -> np.ndarray:
        """Global row numbers at places [first, last) of the visiting order, int64."""
        if self.groups is not None:
            return self.groups.rows(first, last)
        return permute(np.arange(first, last, dtype=np.int64), self.num_rows, self._key)

    def row_tokens(self, rows: np.ndarray) -> np.ndarray:
        """Tokens of text in each of some rows, by global number: int64."""
        shard_of_row = np.searchsorted(self.offsets, rows, side="right") - 1
        tokens = np.empty(rows.shape[0], np.int64)
        for number in np.unique(shard_of_row):
            here = shard_of_row == number
            tokens[here] = self.indexes[number].row_tokens(rows[here] - self.offsets[number])
        return tokens

    def parts(self, first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
        """The same rows shard by shard: number of the index, and row numbers in it."""
        rows = self.rows(first, last)
        shard_of_row = np.searchsorted(self.offsets, rows, side="right") - 1
        for number in np.unique(shard_of_row):
            yield int(number), rows[shard_of_row == number] - self.offsets[number]

    @property
    def counts(self) -> dict[str, int]:
        """What packing counted, summed over shards."""
        total: dict[str, int] = {}
        for index in self.indexes:
            for name, value in index.counts.items():
                total[name] = total.get(name, 0) + value
        return total
