"""Rows that are far from full are emptied into each other's gaps, by cutting documents at the ends of sentences."""

import numpy as np

from ptcli.compiled import compiled
from ptcli.randomness import draws


def fill_gaps(
    start: np.ndarray,
    length: np.ndarray,
    row_examples: np.ndarray,
    sentence_offsets: np.ndarray,
    *,
    special: int,
    capacity: int,
    key: np.uint64,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Examples of one piece (`start`, `length`, int64 (E,), by row) laid out in fewer rows, and how many cuts it took.

    A row's examples go to the fullest row that can take them, or are cut to fill the largest gap, as long as gaps could
    take a whole row. A gap below an eighth of `capacity` stays, and no part is shorter than that. Emptier rows are
    emptied first, but for a quarter of a row that `key` draws, so that other documents are cut in another epoch.
    `special`: special tokens of an example.
    """
    num_rows = len(row_examples) - 1
    least = max(capacity // 8, special + 1)
    row_of = np.repeat(np.arange(num_rows), np.diff(row_examples))
    gap = capacity - np.bincount(row_of, weights=length + special, minlength=num_rows).astype(np.int64)
    drawn = (draws(key, np.arange(num_rows)) % np.uint64(capacity // 4 + 1)).astype(np.int64)
    order = np.argsort(drawn - gap, kind="stable")
    rests = np.zeros(int(gap[gap >= least].sum()) // least, np.int64)  # a place for what each cut leaves
    start, length, row_of = (np.concatenate([array, rests]) for array in (start, length, row_of))
    cuts = int(_empty_rows(start, length, row_of, row_examples, gap, order, sentence_offsets, special, capacity, least))
    row_of = row_of[: len(row_of) - len(rests) + cuts]
    by_row = np.argsort(row_of, kind="stable")
    sizes = np.bincount(row_of)
    return start[by_row], length[by_row], np.concatenate([[0], np.cumsum(sizes[sizes > 0])]), cuts


@compiled
def _empty_rows(start, length, row_of, row_examples, gap, order, offsets, special, capacity, least):
    """Move examples in place, append what is cut off. Returns the number of cuts."""
    num_rows = gap.shape[0]
    top = np.full(capacity + 1, -1, np.int64)  # the row with this gap that was put there last
    below = np.full(num_rows, -1, np.int64)  # the row under it
    is_open = gap >= least  # has a gap worth filling, and is not being emptied
    took = np.zeros(num_rows, np.bool_)
    usable, largest, begin = 0, capacity, row_examples[num_rows]
    for i in range(num_rows - 1, -1, -1):
        row = order[i]
        if is_open[row]:
            usable += gap[row]
            below[row] = top[gap[row]]
            top[gap[row]] = row
    count = begin
    for i in range(num_rows):
        emptied = order[i]
        if not is_open[emptied] or took[emptied]:
            continue
        if usable < capacity:
            break
        is_open[emptied] = False
        usable -= gap[emptied]
        for example in range(row_examples[emptied], row_examples[emptied + 1]):
            e, rest = example, True
            while rest:
                largest = _next_open(top, below, is_open, largest, -1)
                if largest < least:
                    return count - begin
                space, head = largest, length[e]
                if head + special <= largest:
                    space = _next_open(top, below, is_open, head + special, 1)
                else:
                    most = min(largest - special, head - least)
                    head = offsets[np.searchsorted(offsets, start[e] + most, side="right") - 1] - start[e]
                    if head < least:
                        break  # no sentence ends where it could be cut: it stays
                row = top[space]
                top[space] = below[row]
                usable -= space
                gap[row] = space - head - special
                took[row] = True
                is_open[row] = gap[row] >= least
                if is_open[row]:
                    usable += gap[row]
                    below[row] = top[gap[row]]
                    top[gap[row]] = row
                row_of[e] = row
                rest = head < length[e]
                if rest:
                    start[count], length[count], row_of[count] = start[e] + head, length[e] - head, emptied
                    length[e] = head
                    e = count
                    count += 1
    return count - begin


@compiled
def _next_open(top, below, is_open, space, step):
    """The first gap from `space` on that an open row has, or -1; rows that are not open any more are taken off."""
    while 0 <= space < top.shape[0]:
        while top[space] >= 0 and not is_open[top[space]]:
            top[space] = below[top[space]]
        if top[space] >= 0:
            return space
        space += step
    return -1
