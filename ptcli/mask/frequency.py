"""Rare tokens are selected more often than frequent ones."""

from typing import Unpack

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.settings import MaskSettings
from ptcli.mask.strategy import MaskStrategy

_UNIT = float(1 << 53)


class FrequencyMask(MaskStrategy):
    """Every token is a unit, and is preferred by the weight count^-power of its id in the training text.

    Frequent tokens are selected so often that the model sees little else; here the budget goes to others, and is met
    exactly all the same. Tokens of an example are drawn one after the other without replacement, each with a chance in
    proportion to its weight (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).

    Args:
        power: 0, every token alike, as mask=token; 1, every id is selected about equally often in the course of the
            training, as far as the text has it that often; between them, between these. In [0, 1].
        settings: as in MaskStrategy, but that `budget` may not be `bernoulli`.
    """

    def __init__(self, *, power: float = 0.5, **settings: Unpack[MaskSettings]):
        super().__init__(**settings)
        if isinstance(power, bool) or not isinstance(power, int | float) or not 0 <= power <= 1:
            raise ConfigError(f"mask.power={power}: write a number from 0 (all tokens alike) to 1; 0.5 is usual")
        if self.budget == "bernoulli":
            raise ConfigError(
                "mask.budget=bernoulli tosses the same coin for every token, but mask=frequency prefers some. "
                "Write mask.budget=stochastic_round, or mask=token"
            )
        self.power = float(power)
        self._waits: np.ndarray | None = None
        if self._vocabulary is not None:
            counts = settings.get("counts")
            if counts is None:
                raise ConfigError("mask=frequency needs the counts of a text; write mask=token")
            self._waits = (np.asarray(counts, np.float64) + 1.0) ** self.power

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each maskable position is a unit and an atom."""
        return examples.maskable, examples.maskable

    def ranks(self, examples: Examples, *, key: np.uint64) -> np.ndarray:
        """An exponential waiting time whose mean is 1 / weight, mapped onto [0, 2^64) without a change of order."""
        assert self._waits is not None
        uniform = super().ranks(examples, key=key)
        return _waiting_ranks(uniform, self._waits, examples.tokens, examples.maskable, examples.offsets)

    def anchors(self, examples: Examples, ranks: np.ndarray, *, key: np.uint64) -> np.ndarray:
        """The selection begins with the first of all, so that it is in the order of ranks alone."""
        return _first_anchors(ranks, examples.maskable, examples.offsets)


@compiled
def _waiting_ranks(uniform, waits, tokens, maskable, offsets):
    ranks = np.empty(uniform.shape[0], np.uint64)
    for e in range(offsets.shape[0] - 1):
        rate, count = 0.0, 0
        for i in range(offsets[e], offsets[e + 1]):
            if maskable[i]:
                rate += 1.0 / waits[tokens[i]]
                count += 1
        mean_rate = rate / max(count, 1)  # ranks come out near uniform, as the selection likes them best
        for i in range(offsets[e], offsets[e + 1]):
            share = (np.float64(uniform[i] >> np.uint64(11)) + 0.5) / _UNIT
            time = -np.log1p(-share) * waits[tokens[i]] * mean_rate
            ranks[i] = np.uint64((time / (1.0 + time)) * _UNIT) << np.uint64(11)
    return ranks


@compiled
def _first_anchors(ranks, maskable, offsets):
    """The place, among the maskable positions of each example, of the smallest rank; as a share, float64 (E,)."""
    anchors = np.zeros(offsets.shape[0] - 1, np.float64)
    for e in range(anchors.shape[0]):
        size, first, best = 0, 0, np.uint64(0)
        for i in range(offsets[e], offsets[e + 1]):
            if maskable[i]:
                if size == 0 or ranks[i] < best:
                    first, best = size, ranks[i]
                size += 1
        anchors[e] = (first + 0.5) / max(size, 1)
    return anchors
