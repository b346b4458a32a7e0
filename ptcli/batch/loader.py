"""Optimiser steps, one after the other, from any position: what a run was fed is a function of where it stands.

The rows of a data epoch are visited in the order of a keyed bijection, so no shuffled list exists and a resumed run
seeks. A step that reaches an epoch's end goes on in the next one: no row is dropped, none is seen twice.
"""

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from ptcli.batch.collate import Gathered, TokenShard, gather, join, lay_out, longest_row, num_scored
from ptcli.batch.columns import Places, concatenated_ranges, documents
from ptcli.batch.contract import LABELS, PAIR_LABELS
from ptcli.batch.groups import LengthGroups
from ptcli.batch.tensors import to_tensors
from ptcli.errors import ConfigError, DataError
from ptcli.mask.examples import Examples, Masked
from ptcli.noise.noise import Noise
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

    def ratio_at(self, step: int | None) -> float:
        """The ratio asked for at an optimiser step."""
        ...

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int | None) -> Masked:
        """Select and replace."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """What one optimiser step is fed. `position` is the data state after it; `counts` are over the whole step."""

    micro_batches: list[dict[str, Tensor]]
    counts: dict[str, int]  # scored entries of each declared column; tokens, maskable, positions
    position: dict[str, Any]  # epoch, row (next one to read), rows (read in all)
    measured: dict[str, float]  # mask_ratio, mask_ratio_asked, fill, epoch (passes over the data so far)


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


class Loader:
    """Feeds a trainer. `batch_size` rows a step, `micro_size` rows a micro-batch, at most `max_length` positions a row.

    `noises` change the text beside the mask and add columns to the batch; their names are part of what they draw.
    `isolates`: whether the model keeps the examples of a row apart; where it does not, each has a row of its own.
    `longest_row`: positions that the model can take, None for any number. `needs`: columns that whoever reads the flat
    examples asks for, beside those of mask and noises.

    `static_length` lays every micro-batch out at max_length (one shape, for CUDA); otherwise at its longest row.
    `group_by_length` puts rows of like length into a micro-batch; none holds rows of two groups, so a step that crosses
    an epoch's end may have one more.

    Of `ranks` that train together, each is given its own part of a step's rows, in order: together they are the same
    rows whatever their number. `counts` and `measured` are then of that part, a position is all ranks'. `group_size`:
    rows of a group of like length, so that it need not depend on the number of ranks; None: `micro_size`.
    """

    rows_of = "an epoch"  # what `epoch(0)` holds the rows of, for messages

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
        group_by_length: bool = False,
        group_size: int | None = None,
        rank: int = 0,
        ranks: int = 1,
        prefetch: int = 2,
        noises: Mapping[str, Noise] | None = None,
        isolates: bool = True,
        longest_row: int | None = None,
        needs: Iterable[str] = (),
    ) -> None:
        if longest_row is not None and max_length > longest_row:
            raise ConfigError(
                f"max_length={max_length}: the model takes rows of {longest_row} positions. "
                f"Use max_length={longest_row}, or a position and attention that take longer ones."
            )
        self.batch_size, self.micro_size = batch_size, micro_size
        self._shards, self._documents = shards, documents
        self._packing, self._pair, self._mask, self._noises = packing, pair, mask, dict(noises or {})
        pairs = replace(PAIR_LABELS, names=tuple(getattr(pair, "label_names", ())))
        self.columns = (LABELS, pairs, *(column for noise in self._noises.values() for column in noise.adds))
        self._isolates = isolates
        asking = [mask, *self._noises.values()]
        self._needs = frozenset(needs).union(*(getattr(part, "needs", ()) for part in asking))
        self._vocabulary, self._max_length, self._seed = vocabulary, max_length, seed
        self._static_length, self._prefetch = static_length, prefetch
        self._group_size = (group_size or micro_size) if group_by_length else None
        assert 0 <= rank < ranks and batch_size % ranks == 0
        self._share = batch_size // ranks
        self._before, self._after = rank * self._share, (ranks - 1 - rank) * self._share  # rows of other ranks
        self._epochs: dict[int, Epoch] = {}

    def epoch(self, number: int) -> Epoch:
        """The rows of epoch `number`. A static mask's epochs repeat, in another visiting order."""
        epoch = self._epochs.get(number)
        if epoch is None:
            epoch = self._make_epoch(
                number, self._documents, [self._shards[d.shard] for d in self._documents], self._mask.data_epoch(number)
            )
            if epoch.num_rows == 0:
                raise DataError(
                    f"The corpus makes no example at max_length={self._max_length}: "
                    f"{sum(d.num_tokens for d in self._documents)} tokens in "
                    f"{sum(len(d.ranges) for d in self._documents)} documents"
                    f"{_because(epoch.counts)}. Give more text, another packing=, or pair=none."
                )
            # A step touches at most a few neighbouring epochs; older ones are let go.
            self._epochs = {n: e for n, e in self._epochs.items() if n >= number - 1} | {number: epoch}
        return epoch

    def _make_epoch(
        self, number: int, documents: list[Documents], shards: Sequence[TokenShard], data_epoch: int
    ) -> Epoch:
        indexes = [
            self._packing.index(
                view,
                layout=self._vocabulary.layout,
                pair=self._pair,
                max_length=self._max_length,
                seed=self._seed,
                epoch=data_epoch,
            )
            for view in documents
        ]
        if not self._isolates:
            indexes = [index.one_example_a_row() for index in indexes]
        key = key_of(self._seed, "order", number)
        return Epoch(indexes, key, self._group_size, shards=shards, documents=documents, data_epoch=data_epoch)

    def steps(self, position: dict[str, Any] | None = None, first_step: int = 0) -> Iterator[Step]:
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

    def once(self, *, max_tokens: int | None = None, step: int | None = None) -> Iterator[dict[str, Tensor]]:
        """Micro-batches of one pass over epoch 0, until at least `max_tokens` tokens of text were given (None: all).

        The mask is that of an optimiser step, or, at None, of evaluations: a ratio that changes is constant there.
        """
        for gathered, masked in self.once_flat(max_tokens=max_tokens, step=step):
            yield self.tensors_of(gathered, masked)

    def once_flat(self, *, max_tokens: int | None = None, step: int | None = None) -> Iterator[tuple[Gathered, Masked]]:
        """The micro-batches of `once` before they are laid out."""
        row, left, epoch = 0, max_tokens, self.epoch(0)
        while row < epoch.num_rows and (left is None or left > 0):
            size = min(self.micro_size, epoch.num_rows - row)
            if left is not None:  # the same rows however many go through the model at once
                ends = np.cumsum(epoch.row_tokens(epoch.rows(row, row + size)))
                size = min(size, int(np.searchsorted(ends, left)) + 1)
                left -= int(ends[size - 1])
            gathered, masked, *_ = self._micro_batch(0, row, size, step)
            row += size
            yield gathered, masked

    def first_epoch(self) -> Iterator[tuple[Gathered, Masked]]:
        """What the optimiser steps of epoch 0 are fed, a step at a time, before it is laid out: to be looked at."""
        last = self.epoch(0).num_rows
        for number, row in enumerate(range(0, last, self.batch_size)):
            gathered, masked, *_ = self._micro_batch(0, row, min(self.batch_size, last - row), number)
            yield gathered, masked

    def tensors_of(self, gathered: Gathered, masked: Masked) -> dict[str, Tensor]:
        """The rows laid out as a batch."""
        return to_tensors(self._lay_out(gathered, masked))

    def begin_anew(self, position: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """The data state that begins the epoch after a position's, and the passes over the data that it counts.

        For rows that change in the course of a run: they are visited from the first on, in an order of their own.
        """
        epoch = position["epoch"] + 1
        return {**position, "epoch": epoch, "row": 0}, float(epoch)

    def examples(self, position: dict[str, Any] | None) -> str:
        """The rows of the optimiser step behind a data state, and the training documents they are from, in words."""
        number, first, _ = position_of(position)
        epoch = self.epoch(number)
        last = min(first + self.batch_size, epoch.num_rows)
        found = [self._documents_of(epoch, n, local) for n, local in epoch.parts(first, last)]
        documents = [f"{document:,}" for document in np.unique(np.concatenate(found))]
        more = f" and {len(documents) - 20:,} more" if len(documents) > 20 else ""
        told = ", ".join(documents[:20]) + more
        return f"rows {first:,} to {last - 1:,} of epoch {number}, of training documents {told}"

    def _documents_of(self, epoch: Epoch, number: int, rows: np.ndarray) -> np.ndarray:
        """The documents of some rows of one index, counted over all shards."""
        index = epoch.indexes[number]
        examples = concatenated_ranges(index.row_examples[rows], index.row_examples[rows + 1])
        view, first = epoch.documents[number], epoch.first_documents[number]
        places = Places(index, examples, view, epoch.shards[number], self._vocabulary.layout, first)
        return documents(places)["documents"]

    def _lay_out(self, gathered: Gathered, masked: Masked) -> dict[str, np.ndarray]:
        length = self._max_length
        if not self._static_length:
            length = min(length, -(-longest_row(gathered) // _LENGTH_STEP) * _LENGTH_STEP)
        pad = self._vocabulary.pad_token_id
        return lay_out(gathered, masked, pad_token_id=pad, length=length, columns=self.columns)

    def _seek(self, position: dict[str, Any] | None) -> tuple[int, int, int]:
        """Epoch, row and rows in all of a data state."""
        return position_of(position)

    def _position(self, epoch: int, row: int, total: int) -> dict[str, Any]:
        """The data state that `_seek` reads."""
        return {"epoch": epoch, "row": row, "rows": total}

    def _passes(self, epoch: int, row: int) -> float:
        """Passes over the data so far."""
        return epoch + row / self.epoch(epoch).num_rows

    def _produce(self, position: dict[str, Any] | None, number: int) -> Iterator[Step]:
        epoch, row, total = self._seek(position)
        while True:
            micro_batches: list[dict[str, Tensor]] = []
            names = (*(column.name for column in self.columns), "tokens", "maskable", "positions")
            counts: dict[str, int] = dict.fromkeys(names, 0)
            epoch, row = self._pass_over(epoch, row, self._before)
            wanted = self._share
            while wanted:
                groups, size = self.epoch(epoch).groups, min(self.micro_size, wanted)
                size = min(size, groups.left(row)) if groups else size
                gathered, masked, epoch, row = self._micro_batch(epoch, row, size, number)
                arrays = self._lay_out(gathered, masked)
                for name, number_scored in num_scored(arrays, self.columns).items():
                    counts[name] += number_scored
                counts["tokens"] += gathered.examples.tokens.shape[0]
                counts["maskable"] += int(gathered.examples.maskable.sum())
                counts["positions"] += arrays["input_ids"].size
                micro_batches.append(to_tensors(arrays))
                wanted -= gathered.num_rows
            epoch, row = self._pass_over(epoch, row, self._after)
            total += self.batch_size
            measured = {
                "mask_ratio": counts[LABELS.name] / max(counts["maskable"], 1),
                "mask_ratio_asked": self._mask.ratio_at(number),
                "fill": counts["tokens"] / counts["positions"],
                "epoch": self._passes(epoch, row),
            }
            yield Step(micro_batches, counts, self._position(epoch, row, total), measured)
            number += 1

    def _pass_over(self, epoch: int, row: int, count: int) -> tuple[int, int]:
        """The place `count` rows behind (epoch, row)."""
        while count:
            step = min(count, self.epoch(epoch).num_rows - row)
            count, row = count - step, row + step
            if row == self.epoch(epoch).num_rows:
                epoch, row = epoch + 1, 0
        return epoch, row

    def _micro_batch(self, epoch: int, row: int, size: int, step: int | None) -> tuple[Gathered, Masked, int, int]:
        """`size` rows from (epoch, row) on, masked; and where the next one begins."""
        parts: list[Gathered] = []
        masks: list[Masked] = []
        while size:
            current = self.epoch(epoch)
            last = min(row + size, current.num_rows)
            gathered, masked = self._fed(current, row, last, step)
            parts.append(gathered)
            masks.append(masked)
            size -= last - row
            epoch, row = (epoch + 1, 0) if last == current.num_rows else (epoch, last)
        if len(parts) == 1:
            return parts[0], masks[0], epoch, row
        masked = Masked(*(np.concatenate([getattr(m, name) for m in masks]) for name in Masked.__slots__))
        return join(parts, self.columns), masked, epoch, row

    def _fed(self, epoch: Epoch, first: int, last: int, step: int | None) -> tuple[Gathered, Masked]:
        """The rows at places [first, last) of an epoch, with all that noises and the mask make of them."""
        gathered = join(
            [
                gather(
                    epoch.indexes[number],
                    epoch.shards[number],
                    rows,
                    self._vocabulary,
                    documents=epoch.documents[number],
                    first_document=epoch.first_documents[number],
                    needs=self._needs,
                )
                for number, rows in epoch.parts(first, last)
            ]
        )
        keys = {name: key_of(self._seed, f"noise.{name}", epoch.data_epoch) for name in self._noises}
        examples, added = gathered.examples, dict(gathered.added)
        for name, noise in self._noises.items():
            examples = noise.before(examples, key=keys[name])
        masked = self._mask(examples, seed=self._seed, epoch=epoch.data_epoch, step=step)
        for name, noise in self._noises.items():
            masked, columns = noise.after(examples, masked, key=keys[name])
            added |= columns
        return replace(gathered, examples=examples, added=added), masked


def position_of(position: dict[str, Any] | None) -> tuple[int, int, int]:
    """Epoch, row and rows in all of a data state; None is the beginning."""
    return (position["epoch"], position["row"], position["rows"]) if position else (0, 0, 0)


def _because(counts: dict[str, int]) -> str:
    reasons = [f"{value} {name.replace('_', ' ')}" for name, value in counts.items() if value and "_" in name]
    return f" ({', '.join(reasons)})" if reasons else ""
