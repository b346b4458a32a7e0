"""Optimiser steps from a corpus that is tokenised while it is read: the same loader, a window at a time.

The first window of a pass is prepared as a store, from which the held-out documents come; those after it are tokenised
in memory, one ahead of training. Packing, pair and mask apply to a window as to a shard, and its rows are visited in
an order of their own: the text is shuffled within windows, and the windows keep the corpus's order.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ptcli.batch.epoch import Epoch
from ptcli.batch.loader import Loader, Step, position_of
from ptcli.errors import DataError
from ptcli.store.window import TokenStream, TokenWindow

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class StreamLoader(Loader):
    """Feeds a trainer from a stream. What a Loader calls an epoch is here a window that makes rows.

    `shards` and `documents` are those of the first window. A position also says where in the corpus its window begins,
    so that a resumed run reads on from there. `measured["epoch"]` are whole passes: a stream's length is not known.
    """

    rows_of = "in the stream's first window"

    def __init__(self, *, stream: TokenStream, **settings: Any) -> None:
        super().__init__(**settings)
        self._stream = stream
        self._coming: Iterator[tuple[Epoch, TokenWindow]] | None = None  # None until the first step is asked for
        self._places: dict[int, dict[str, Any]] = {}  # where the windows begin whose rows are in use, and the next

    def epoch(self, number: int) -> Epoch:
        """The rows of window `number`, counted from the beginning over all passes; they are asked for in order."""
        if self._coming is None:
            assert number == 0, "only the first window is known before the steps begin"
            return super().epoch(0)
        while number not in self._epochs:
            latest = max(self._places)
            epoch, window = next(self._coming)
            self._epochs = {n: e for n, e in self._epochs.items() if n >= latest - 1} | {latest: epoch}
            self._places = {n: p for n, p in self._places.items() if n >= latest - 1}
            self._places |= {latest: window.place, latest + 1: window.next}
        return self._epochs[number]

    def steps(self, position: dict[str, Any] | None = None, first_step: int = 0) -> Iterator[Step]:
        """Steps for ever, from a data state on; made ahead in a thread, and windows in another."""
        try:
            yield from super().steps(position, first_step)
        finally:
            self._stop()

    def begin_anew(self, position: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """See `Loader.begin_anew`: a position's window is begun anew, under another number."""
        return super().begin_anew(position)[0], float(position["place"]["pass"])

    def examples(self, position: dict[str, Any] | None) -> str:
        """The rows of the optimiser step behind a data state, in words: windows that are gone know no documents."""
        number, first, _ = position_of(position)
        place = position["place"] if position else {"pass": 0}
        where = ", ".join(f"{name} {value}" for name, value in place.items() if isinstance(value, int))
        return f"rows {first:,} to {first + self.batch_size - 1:,} of window {number} of the stream ({where})"

    def _seek(self, position: dict[str, Any] | None) -> tuple[int, int, int]:
        self._stop()
        number, row, total = super()._seek(position)
        place = position["place"] if position else None
        self._epochs, self._places = {}, {number: place or {"pass": 0}}
        self._coming = _one_ahead(self._windows_with_rows(place, number))
        return number, row, total

    def _position(self, epoch: int, row: int, total: int) -> dict[str, Any]:
        return {**super()._position(epoch, row, total), "place": self._places[epoch]}

    def _passes(self, epoch: int, row: int) -> float:
        return float(self._places[epoch]["pass"])

    def _stop(self) -> None:
        if self._coming is not None:
            self._coming.close()  # pyright: ignore[reportAttributeAccessIssue]  (a generator)
            self._coming = None

    def _windows_with_rows(self, place: dict[str, Any] | None, number: int) -> Iterator[tuple[Epoch, TokenWindow]]:
        barren = 0  # windows without a row since the last one with rows
        barren_pass = -1
        for window in self._stream.windows(place):
            epoch = self._rows_of(window, number)
            if epoch.num_rows:
                yield epoch, window
                number, barren = number + 1, 0
                continue
            barren_pass = window.place["pass"] if not barren else barren_pass
            barren += 1
            if window.place["pass"] > barren_pass + 1:
                raise DataError(
                    f"The stream makes no example at max_length={self._max_length}. Give a larger corpus.window, "
                    "another packing=, or pair=none."
                )
            _log.warning("window %d of the stream makes no row and is passed over", window.place["window"])

    def _rows_of(self, window: TokenWindow, number: int) -> Epoch:
        data_epoch = self._mask.data_epoch(window.place["pass"])
        if window.shard is None or window.documents is None:
            shards = [self._shards[view.shard] for view in self._documents]
            return self._make_epoch(number, self._documents, shards, data_epoch)
        return self._make_epoch(number, [window.documents], [window.shard], data_epoch)


def _one_ahead(items: Iterator[_T]) -> Iterator[_T]:
    """The items of an endless iterator, the next one made in a thread while one is in use."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="window") as pool:
        following = pool.submit(next, items)
        while True:
            item = following.result()
            following = pool.submit(next, items)
            yield item
