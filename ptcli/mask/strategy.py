"""What all masks share: settings, their checks, and the way from a partition to corrupted ids and labels."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ptcli.errors import ConfigError
from ptcli.mask.budget import BUDGETS
from ptcli.mask.examples import Examples, Masked
from ptcli.mask.replace import replace_tokens
from ptcli.mask.units import Partition, ranks_of
from ptcli.randomness import key_of, uniforms
from ptcli.tokenizer.vocabulary import Vocabulary

REPLACE_LEVELS = ("token", "unit")


class MaskStrategy(ABC):
    """A mask: a function of one example, computed for a batch of them.

    A strategy only says where its units begin (`partition`). What is selected and what is shown there depend on
    (seed, data epoch, example key, tokens) alone, never on the batch; selections are nested over ratios.

    Args:
        ratio: share of the maskable tokens of an example, in (0, 1].
        budget: how that becomes a number of tokens: `stochastic_round`, `fixed` or `bernoulli` (ptcli/mask/budget.py).
        copies: None, a new mask in every epoch (dynamic); N, the masks of epoch e are those of e % N (static).
        replace: shares of selected positions that show the mask token, a random ordinary token, the original.
        replace_level: one draw of these three for each `token` or for all tokens of a `unit`.
        at_least_one: every example with a maskable token has a selected one; the mean share is kept where there is
            room for it (ptcli/mask/budget.py has the closed form).
        vocabulary: special and ordinary ids. None checks the settings alone: such a mask cannot be called.

    Raises ConfigError for a setting out of its range, and for a vocabulary without a mask token when one is shown.
    """

    needs_words: bool = False

    def __init__(
        self,
        *,
        ratio: float = 0.15,
        budget: str = "stochastic_round",
        copies: int | None = None,
        replace: Sequence[float] = (0.8, 0.1, 0.1),
        replace_level: str = "unit",
        at_least_one: bool = True,
        vocabulary: Vocabulary | None = None,
    ):
        self.ratio = _checked_ratio(ratio)
        self.budget = _one_of("mask.budget", budget, BUDGETS)
        self.copies = _checked_copies(copies)
        self.replace = _checked_replace(replace)
        self.replace_level = _one_of("mask.replace_level", replace_level, REPLACE_LEVELS)
        if not isinstance(at_least_one, bool):
            raise ConfigError(f"mask.at_least_one={at_least_one}: write true or false")
        self.at_least_one = at_least_one
        self._mask_token_id, self._ordinary = (None, None)
        if vocabulary is not None:
            self._mask_token_id, self._ordinary = _checked_vocabulary(vocabulary, self.replace)

    @abstractmethod
    def partition(self, examples: Examples, *, key: np.uint64) -> tuple[np.ndarray, np.ndarray]:
        """Where units and their atoms begin, two bool (N,), true at maskable positions only.

        A unit begins wherever a run of maskable positions does; units are cut only between atoms. `key` is for
        strategies that draw their units; it changes with seed and data epoch.
        """

    def ranks(self, examples: Examples, *, key: np.uint64) -> np.ndarray:
        """The rank of each position, uint64 (N,): smaller is taken earlier. Uniform here; a strategy may weight it."""
        return ranks_of(key, examples.keys, examples.offsets)

    def data_epoch(self, epoch: int) -> int:
        """The epoch whose draws (of pairs, packing and masks) are used in this one."""
        return epoch if self.copies is None else epoch % self.copies

    def ratio_at(self, step: int) -> float:
        """The ratio asked for at an optimiser step."""
        return self.ratio

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int = 0) -> Masked:
        """Mask a batch of examples: the same ids and labels for an example in any batch."""
        assert self._ordinary is not None, "a mask made without a vocabulary checks its settings and masks nothing"
        examples = _own_arrays(examples)
        streams = _streams(int(seed), int(self.data_epoch(epoch)))
        units, atoms = self.partition(examples, key=streams.partition)
        ranks = self.ranks(examples, key=streams.rank)
        partition = Partition(units, atoms, examples.maskable, ranks, examples.offsets)
        selected = BUDGETS[self.budget](
            partition,
            self.ratio_at(step),
            uniforms(streams.budget, examples.keys),
            uniforms(streams.anchor, examples.keys),
            self.at_least_one,
        )
        mask_share, random_share, keep_share = self.replace
        labels, kinds = replace_tokens(
            examples.tokens,
            selected,
            units,
            examples.offsets,
            examples.keys,
            streams.kind,
            streams.random_id,
            mask_share,
            random_share if keep_share else 1.0,  # no rounding error may keep a token
            -1 if self._mask_token_id is None else self._mask_token_id,
            self._ordinary,
            self.replace_level == "unit",
        )
        return Masked(examples.tokens, labels, kinds, units)


class _Streams(NamedTuple):
    """Keys of the independent streams that a mask draws from."""

    partition: np.uint64
    rank: np.uint64
    budget: np.uint64
    anchor: np.uint64
    kind: np.uint64
    random_id: np.uint64


@lru_cache(maxsize=16)
def _streams(seed: int, data_epoch: int) -> _Streams:
    return _Streams(*(key_of(seed, f"mask.{name}", data_epoch) for name in _Streams._fields))


def _own_arrays(examples: Examples) -> Examples:
    """Writable copies of one type each: `tokens` becomes the input, and read-only arrays would be compiled for anew."""
    return Examples(
        tokens=np.array(examples.tokens, np.int32),
        offsets=np.array(examples.offsets, np.int64),
        maskable=np.array(examples.maskable, bool),
        word_starts=np.array(examples.word_starts, bool),
        keys=np.array(examples.keys, np.uint64),
    )


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked_ratio(ratio: float) -> float:
    if not _number(ratio):
        raise ConfigError(f"mask.ratio={ratio} is not a number; write a share such as 0.15")
    if ratio > 1:
        hint = f"; write {ratio / 100:g}" if 1 < ratio <= 100 else ""
        raise ConfigError(f"mask.ratio={ratio:g} means {100 * ratio:g} %{hint}. It is a share in (0, 1]")
    if not ratio > 0:  # nan as well
        raise ConfigError(
            f"mask.ratio={ratio:g}: a share in (0, 1] is masked; write 0.15, or mask=none to mask nothing"
        )
    return float(ratio)


def _checked_copies(copies: int | None) -> int | None:
    if copies is None:
        return None
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
        raise ConfigError(
            f"mask.copies={copies}: write a whole number from 1 (as many masks as that, used in turn), or null for a "
            "new mask in every epoch"
        )
    return copies


def _checked_replace(replace: Sequence[float]) -> tuple[float, float, float]:
    shares = tuple(replace) if isinstance(replace, Sequence) and not isinstance(replace, str) else ()
    if len(shares) != 3 or not all(_number(share) and 0 <= share <= 1 for share in shares):
        raise ConfigError(f"mask.replace={replace}: write three shares, [mask,random,keep], such as [0.8,0.1,0.1]")
    total = math.fsum(shares)
    if abs(total - 1) > 1e-6:
        raise ConfigError(
            f"mask.replace={list(shares)} sums to {total:g}; [mask,random,keep] are shares of the selected tokens and "
            "sum to 1, such as [0.8,0.1,0.1]"
        )
    return float(shares[0]), float(shares[1]), float(shares[2])


def _one_of(key: str, value: str, choices: Sequence[str] | dict) -> str:
    if value not in tuple(choices):
        raise ConfigError(f"{key}={value} is unknown; choose one of {', '.join(choices)}")
    return value


def _checked_vocabulary(vocabulary: Vocabulary, replace: tuple[float, float, float]) -> tuple[int | None, np.ndarray]:
    if vocabulary.mask_token_id is None and replace[0] > 0:
        raise ConfigError(
            f"mask.replace={list(replace)} shows the mask token, but the tokenizer has none. Use one with a "
            "mask token (tokenizer=wordpiece trains one), or mask.replace=[0,0.5,0.5]"
        )
    ordinary = vocabulary.ordinary_ids
    if not ordinary.shape[0]:
        raise ConfigError("the tokenizer has no ordinary tokens: there is nothing to mask or to draw")
    return vocabulary.mask_token_id, ordinary
