"""Budgets: how many tokens of an example are selected.

With ratio r, n maskable tokens, U uniform in [0, 1), and c the length of the example's shortest atom (1, save where
every word has several pieces), the expected number selected is exactly

    mask.budget        k                    at_least_one=false   at_least_one=true
    stochastic_round   floor(r n + U)       r n                  E[max(k, c)]: r n where r n >= c
    fixed              round(r n)           k                    max(k, c)
    bernoulli          one coin a unit      r n                  max(r n, c)

With 20 or more tokens the share is therefore r from r = 0.05 on, but for the rounding of `fixed`; an example too short
for that has the share of one token or word. Tokens alone number exactly k; words leave it by less than one word.

Every token of an example has one chance, whatever its place and its word, where k is at least the mean length of the
example's atoms; in shorter ones `at_least_one` takes short words more often than long ones.
"""

from collections.abc import Callable

import numpy as np

from ptcli.mask.select import take_coins, take_window
from ptcli.mask.units import Partition, sizes_of

Budget = Callable[[Partition, float, np.ndarray, np.ndarray, bool], np.ndarray]


def stochastic_round(
    partition: Partition, ratio: float, uniforms: np.ndarray, anchors: np.ndarray, at_least_one: bool
) -> np.ndarray:
    """floor(r n + U), one U an example: the share is r in expectation at every length, and the count within one of it.

    RoBERTa's rule, as its code has it (arXiv 1907.11692).
    """
    sizes = sizes_of(partition.maskable, partition.offsets)
    budgets = np.minimum(np.floor(ratio * sizes + uniforms).astype(np.int64), sizes)
    return _window(partition, budgets, anchors, at_least_one)


def fixed(
    partition: Partition, ratio: float, uniforms: np.ndarray, anchors: np.ndarray, at_least_one: bool
) -> np.ndarray:
    """round(r n), halves to even: every example of one length has the same count. BERT's rule (arXiv 1810.04805)."""
    budgets = np.rint(ratio * sizes_of(partition.maskable, partition.offsets)).astype(np.int64)
    return _window(partition, budgets, anchors, at_least_one)


def bernoulli(
    partition: Partition, ratio: float, uniforms: np.ndarray, anchors: np.ndarray, at_least_one: bool
) -> np.ndarray:
    """Each unit by its own coin: the count of an example varies, by more the longer the units are."""
    return take_coins(
        partition.units, partition.atoms, partition.maskable, partition.ranks, partition.offsets, ratio, at_least_one
    )


BUDGETS: dict[str, Budget] = {"stochastic_round": stochastic_round, "fixed": fixed, "bernoulli": bernoulli}
"""What `mask.budget` may be. Each gives the selected positions, bool (N,)."""


def _window(partition: Partition, budgets: np.ndarray, anchors: np.ndarray, at_least_one: bool) -> np.ndarray:
    return take_window(
        partition.units,
        partition.atoms,
        partition.maskable,
        partition.ranks,
        partition.offsets,
        budgets,
        anchors,
        at_least_one,
    )
