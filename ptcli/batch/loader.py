"""Optimiser steps, one after the other, from any position: what a run was fed is a function of where it stands.

The rows of a data epoch are visited in the order of a keyed bijection, so no shuffled list exists and a resumed run
seeks. A step that reaches an epoch's end goes on in the next one: no row is dropped, none is seen twice.
"""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from ptcli.batch.collate import Gathered, TokenShard, gather, join, lay_out, longest_row
from ptcli.batch.tensors import to_tensors
from ptcli.errors import DataError
from ptcli.mask.examples import Examples, Masked
from ptcli.packing.index import Index
from ptcli.randomness import key_of, permute
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

_LENGTH_STEP = 8  # padded lengths are multiples of this: fewer shapes, aligned rows


class Packing(Protocol):
    """What the loader asks of a packing."""

    def index(
        self, documents: Documents, *, layout: Layout, pair: Any, max_length: int, seed: int, epoch: int
    ) -> Index:
        """All rows of one shard in one data epoch."""
        ...


class Mask(Protocol):
    """What the loader asks of a mask."""

    def data_epoch(self, epoch: int) -> int:
        """The epoch that packing, pair and mask see: `epoch`, or `epoch % copies` when static."""
        ...

    def ratio_at(self, step: int) -> float:
        """The ratio asked for at an optimiser step."""
        ...

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int) -> Masked:
        """Select and replace."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """What one optimiser step is fed. `position` is the data state after it; `counts` are over the whole step."""

    micro_batches: list[dict[str, Tensor]]
    counts: dict[str, int]  # labels, pair_labels, tokens, maskable, positions
    position: dict[str, int]  # epoch, row (next one to read), rows (read in all)
    measured: dict[str, float]  # mask_ratio, mask_ratio_asked, fill, epoch (passes over the data so far)


class Epoch:
    """The rows of one data epoch over all shards, in visiting order."""

    def __init__(self, indexes: list[Index], key: np.uint64) -> None:
        self.indexes = indexes
        self.offsets = np.cumsum([0] + [index.num_rows for index in indexes])
        self.num_rows = int(self.offsets[-1])
        self._key = key

    def rows(self, first: int, last: int) -> np.ndarray:
        """Global row numbers at places [first, last) of the visiting order, int64."""
        return permute(np.arange(first, last, dtype=np.int64), self.num_rows, self._key)

    @property
    def counts(self) -> dict[str, int]:
        """What packing counted, summed over shards."""
        total: dict[str, int] = {}
        for index in self.indexes:
            for name, value in index.counts.items():
                total[name] = total.get(name, 0) + value
        return total


class Loader:
    """Feeds a trainer. `batch_size` rows a step, `micro_size` rows a micro-batch, at most `max_length` positions a row.

    `static_length` lays every micro-batch out at max_length (one shape, for CUDA); otherwise at its longest row.
    """

    def __init__(
        self,
        *,
        shards: list[TokenShard],
        documents: list[Documents],
        packing: Packing,
        pair: Any,
        mask: Mask,
        vocabulary: Vocabulary,
        max_length: int,
        batch_size: int,
        micro_size: int,
        seed: int,
        static_length: bool = False,
        prefetch: int = 2,
    ) -> None:
        self.batch_size, self.micro_size = batch_size, micro_size
        self._shards, self._documents = shards, documents
        self._packing, self._pair, self._mask = packing, pair, mask
        self._vocabulary, self._max_length, self._seed = vocabulary, max_length, seed
        self._static_length, self._prefetch = static_length, prefetch
        self._epochs: dict[int, Epoch] = {}

    def epoch(self, number: int) -> Epoch:
        """The rows of epoch `number`. A static mask's epochs repeat, in another visiting order."""
        if number not in self._epochs:
            data_epoch = self._mask.data_epoch(number)
            indexes = [
                self._packing.index(
                    documents,
                    layout=self._vocabulary.layout,
                    pair=self._pair,
                    max_length=self._max_length,
                    seed=self._seed,
                    epoch=data_epoch,
                )
                for documents in self._documents
            ]
            epoch = Epoch(indexes, key_of(self._seed, "order", number))
            if epoch.num_rows == 0:
                raise DataError(
                    f"The corpus makes no example at max_length={self._max_length}: "
                    f"{sum(d.num_tokens for d in self._documents)} tokens in "
                    f"{sum(len(d.ranges) for d in self._documents)} documents"
                    f"{_because(epoch.counts)}. Give more text, another packing=, or pair=none."
                )
            # A step touches at most a few neighbouring epochs; older ones are let go.
            self._epochs = {n: e for n, e in self._epochs.items() if n >= number - 1}
            self._epochs[number] = epoch
        return self._epochs[number]

    def steps(self, position: dict[str, int] | None = None, first_step: int = 0) -> Iterator[Step]:
        """Steps for ever, from a data state on; made ahead in a thread."""
        ahead: queue.Queue[Step | BaseException] = queue.Queue(maxsize=self._prefetch)
        stop = threading.Event()

        def put(item: Step | BaseException) -> None:
            while not stop.is_set():
                try:
                    ahead.put(item, timeout=0.1)
                    return
                except queue.Full:
                    continue

        def produce() -> None:
            try:
                for step in self._produce(position, first_step):
                    put(step)
                    if stop.is_set():
                        return
            except BaseException as error:  # handed to the consumer, who raises it
                put(error)

        thread = threading.Thread(target=produce, name="loader", daemon=True)
        thread.start()
        try:
            while True:
                item = ahead.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stop.set()
            thread.join()

    def once(self, *, max_tokens: int | None = None, step: int = 0) -> Iterator[dict[str, Tensor]]:
        """Micro-batches of one pass over epoch 0, until at least `max_tokens` real tokens were given (None: all)."""
        row, tokens, last = 0, 0, self.epoch(0).num_rows
        while row < last and (max_tokens is None or tokens < max_tokens):
            size = min(self.micro_size, last - row)
            gathered, masked, *_ = self._micro_batch(0, row, size, step)
            row, tokens = row + size, tokens + gathered.examples.tokens.shape[0]
            yield to_tensors(self._lay_out(gathered, masked))

    def _lay_out(self, gathered: Gathered, masked: Masked) -> dict[str, np.ndarray]:
        length = self._max_length
        if not self._static_length:
            length = min(length, -(-longest_row(gathered) // _LENGTH_STEP) * _LENGTH_STEP)
        return lay_out(gathered, masked, pad_token_id=self._vocabulary.pad_token_id, length=length)

    def _produce(self, position: dict[str, int] | None, number: int) -> Iterator[Step]:
        epoch, row, total = (position["epoch"], position["row"], position["rows"]) if position else (0, 0, 0)
        while True:
            micro_batches: list[dict[str, Tensor]] = []
            counts = dict.fromkeys(("labels", "pair_labels", "tokens", "maskable", "positions"), 0)
            wanted = self.batch_size
            while wanted:
                gathered, masked, epoch, row = self._micro_batch(epoch, row, min(self.micro_size, wanted), number)
                arrays = self._lay_out(gathered, masked)
                counts["labels"] += arrays["label_positions"].shape[0]
                counts["pair_labels"] += arrays["pair_positions"].shape[0]
                counts["tokens"] += gathered.examples.tokens.shape[0]
                counts["maskable"] += int(gathered.examples.maskable.sum())
                counts["positions"] += arrays["input_ids"].size
                micro_batches.append(to_tensors(arrays))
                wanted -= gathered.num_rows
            total += self.batch_size
            measured = {
                "mask_ratio": counts["labels"] / max(counts["maskable"], 1),
                "mask_ratio_asked": self._mask.ratio_at(number),
                "fill": counts["tokens"] / counts["positions"],
                "epoch": epoch + row / self.epoch(epoch).num_rows,
            }
            yield Step(micro_batches, counts, {"epoch": epoch, "row": row, "rows": total}, measured)
            number += 1

    def _micro_batch(self, epoch: int, row: int, size: int, step: int) -> tuple[Gathered, Masked, int, int]:
        """`size` rows from (epoch, row) on, masked; and where the next one begins."""
        parts: list[Gathered] = []
        masks: list[Masked] = []
        while size:
            current, data_epoch = self.epoch(epoch), self._mask.data_epoch(epoch)
            last = min(row + size, current.num_rows)
            rows = current.rows(row, last)
            shard_of_row = np.searchsorted(current.offsets, rows, side="right") - 1
            for number in np.unique(shard_of_row):
                local = rows[shard_of_row == number] - current.offsets[number]
                index = current.indexes[number]
                part = gather(index, self._shards[index.shard], local, self._vocabulary)
                parts.append(part)
                masks.append(self._mask(part.examples, seed=self._seed, epoch=data_epoch, step=step))
            size -= last - row
            epoch, row = (epoch + 1, 0) if last == current.num_rows else (epoch, last)
        if len(parts) == 1:
            return parts[0], masks[0], epoch, row
        masked = Masked(*(np.concatenate([getattr(m, name) for m in masks]) for name in Masked.__slots__))
        return join(parts), masked, epoch, row


def _because(counts: dict[str, int]) -> str:
    reasons = [f"{value} {name.replace('_', ' ')}" for name, value in counts.items() if value and "_" in name]
    return f" ({', '.join(reasons)})" if reasons else ""
