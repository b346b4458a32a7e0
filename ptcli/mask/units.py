"""Where units begin, and the ranks they are taken by: what every strategy hands to the selection."""

from dataclasses import dataclass

import numpy as np

from ptcli.compiled import compiled
from ptcli.mask.examples import Examples
from ptcli.randomness import draw


@dataclass(frozen=True, slots=True)
class Partition:
    """A batch of examples, cut by a strategy into units that are selected together.

    Every maskable position belongs to one unit, every unit is a whole number of atoms. A unit that the budget cannot
    hold is cut between atoms, never inside one. All arrays are writable copies: compiled loops see one type of each.
    """

    units: np.ndarray  # bool (N,): a unit begins here
    atoms: np.ndarray  # bool (N,): an atom begins here; true wherever a unit begins
    maskable: np.ndarray  # bool (N,)
    ranks: np.ndarray  # uint64 (N,): units are taken by ascending rank of their first position
    offsets: np.ndarray  # int64 (E + 1,)


def word_units(examples: Examples) -> np.ndarray:
    """Where words begin, bool (N,): at word starts, and wherever a run of maskable positions begins."""
    return _word_units(examples.word_starts, examples.maskable, examples.offsets)


@compiled
def _word_units(word_starts, maskable, offsets):
    begins = np.empty(word_starts.shape[0], np.bool_)
    for e in range(offsets.shape[0] - 1):
        goes_on = False
        for i in range(offsets[e], offsets[e + 1]):
            begins[i] = maskable[i] & (word_starts[i] | (not goes_on))
            goes_on = maskable[i]
    return begins


@compiled
def ranks_of(key, keys, offsets):
    """One uniform 64-bit rank a position, uint64 (N,), from the stream, the example and the position in it alone."""
    ranks = np.empty(offsets[-1], np.uint64)
    for e in range(keys.shape[0]):
        stream = draw(key, keys[e])
        first = offsets[e]
        for i in range(offsets[e + 1] - first):
            ranks[first + i] = draw(stream, np.uint64(i))
    return ranks


@compiled
def sizes_of(maskable, offsets):
    """Maskable positions of each example, int64 (E,)."""
    sizes = np.zeros(offsets.shape[0] - 1, np.int64)
    for e in range(sizes.shape[0]):
        size = 0
        for i in range(offsets[e], offsets[e + 1]):
            size += maskable[i]
        sizes[e] = size
    return sizes
