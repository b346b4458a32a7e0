"""What all masks share: the way from a partition to corrupted ids and labels."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ptcli.errors import ConfigError
from ptcli.mask.budget import BUDGETS
from ptcli.mask.examples import Examples, Masked, TokenArrays
from ptcli.mask.random_ids import RandomIds, corpus_ids, uniform_ids
from ptcli.mask.ratio import RatioSchedule
from ptcli.mask.replace import replace_tokens
from ptcli.mask.settings import (
    checked_copies,
    checked_flag,
    checked_never,
    checked_replace,
    checked_steps,
    checked_vocabulary,
    one_of,
)
from ptcli.mask.units import Partition, ranks_of
from ptcli.randomness import key_of, uniforms
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Vocabulary

REPLACE_LEVELS = ("token", "unit")
RANDOM_FROM = ("ordinary", "corpus")
_NO_TOKEN = -1


class MaskStrategy(ABC):
    """A mask: a function of one example, computed for a batch of them.

    A strategy only says where its units begin (`partition`). What is selected and what is shown there depend on
    (seed, data epoch, example key, tokens) and the ratio alone, never on the batch; selections are nested over ratios.

    Args:
        ratio: share of the maskable tokens of an example, in (0, 1].
        later_ratios: shares, in [0, 1], that the ratio goes to in the course of the training.
        ratio_schedule: how: `constant` (no later ratios), `linear`, `cosine` or `steps` (ptcli/mask/ratio.py).
        schedule_steps: the optimiser steps of the schedule; the command gives those of budget.steps where it is None.
        budget: how that becomes a number of tokens: `stochastic_round`, `fixed` or `bernoulli` (ptcli/mask/budget.py).
        copies: None, a new mask in every epoch (dynamic); N, the masks of epoch e are those of e % N (static).
        replace: shares of selected positions that show the mask token, a random ordinary token, the original.
        replace_level: one draw of these three for each `token` or for all tokens of a `unit`.
        random_from: random tokens are drawn uniformly from all `ordinary` ids, or as often as the `corpus` has them.
        at_least_one: every example with a maskable token has a selected one; the mean share is kept where there is
            room for it (ptcli/mask/budget.py has the closed form).
        never: ids (or tokens, of which the command makes ids) that are neither selected nor counted nor drawn.
        vocabulary: special and ordinary ids. None checks the settings alone: such a mask cannot be called.
        counts: how often the training text has each id, int64 (V,), for `random_from=corpus` and what else asks.

    Raises ConfigError for a setting out of its range, and for a vocabulary without a mask token when one is shown.
    """

    needs: frozenset[str] = frozenset()  # columns of the examples, by ptcli/batch/columns.py
    learns: str | None = None
    """What `learn` finds in the text: the argument that takes it, and the name by which it is kept."""
    learns_by: tuple[str, ...] = ()
    """The settings on which that depends, attributes by these names: with the same ones the text is read once."""

    def __init__(
        self,
        *,
        ratio: float = 0.15,
        later_ratios: Sequence[float] = (),
        ratio_schedule: str = "constant",
        schedule_steps: int | None = None,
        budget: str = "stochastic_round",
        copies: int | None = None,
        replace: Sequence[float] = (0.8, 0.1, 0.1),
        replace_level: str = "unit",
        random_from: str = "ordinary",
        at_least_one: bool = True,
        never: Sequence[int | str] = (),
        vocabulary: Vocabulary | None = None,
        counts: np.ndarray | None = None,
    ):
        self.schedule_steps = checked_steps(schedule_steps)
        self._ratios = RatioSchedule(ratio=ratio, later=later_ratios, schedule=ratio_schedule, steps=schedule_steps)
        if schedule_steps is not None and not self.scheduled:
            raise ConfigError(
                f"mask.schedule_steps={schedule_steps} does nothing, because nothing of the mask changes with the "
                "step: write mask.later_ratios=[0.15] mask.ratio_schedule=linear as well, or leave it out"
            )
        self.budget = one_of("mask.budget", budget, BUDGETS)
        self.copies = checked_copies(copies)
        self.replace = checked_replace(replace)
        self.replace_level = one_of("mask.replace_level", replace_level, REPLACE_LEVELS)
        self.random_from = one_of("mask.random_from", random_from, RANDOM_FROM)
        self.at_least_one = checked_flag("mask.at_least_one", at_least_one)
        self.never = checked_never(never)
        self._vocabulary: Vocabulary | None = None
        self._random_ids: RandomIds | None = None
        if vocabulary is not None:
            self._know(vocabulary, counts)

    def learn(
        self, shards: Sequence[TokenArrays], documents: Sequence[Documents], *, vocabulary: Vocabulary
    ) -> np.ndarray:
        """What the mask knows of the whole training text, one array: where it `learns` anything.

        Raises ConfigError where the text has nothing of it.
        """
        raise NotImplementedError

    @abstractmethod
    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Where units and their atoms begin, two bool (N,), true at maskable positions only.

        A unit begins wherever a run of maskable positions does; units are cut only between atoms. `key` is for
        strategies that draw their units; it changes with seed and data epoch. `step` is the optimiser step, None in
        evaluations.
        """

    def ranks(self, examples: Examples, *, key: np.uint64) -> np.ndarray:
        """The rank of each position, uint64 (N,): smaller is taken earlier. Uniform here; a strategy may weight it."""
        return ranks_of(key, examples.keys, examples.offsets)

    def anchors(self, examples: Examples, ranks: np.ndarray, *, key: np.uint64) -> np.ndarray:
        """Where in each example the selection begins, float64 (E,) in [0, 1): uniform here."""
        return uniforms(key, examples.keys)

    def data_epoch(self, epoch: int) -> int:
        """The epoch whose draws (of pairs, packing and masks) are used in this one."""
        return epoch if self.copies is None else epoch % self.copies

    @property
    def scheduled(self) -> bool:
        """Whether the mask depends on the optimiser step: then it needs `schedule_steps`."""
        return not self._ratios.constant

    def ratio_at(self, step: int | None) -> float:
        """The share of maskable tokens that is scored at an optimiser step; at None, in evaluations, the average."""
        return self._ratios.at(step)

    @property
    def mean_words(self) -> float | None:
        """The mean of the law that unit lengths are drawn by, in words; None where the text decides."""
        return None

    @property
    def shown(self) -> tuple[float, float, float]:
        """Shares of scored positions that show the mask token, a token that tells nothing of the label, the label."""
        return self.replace

    def unrelated(self, counts: np.ndarray) -> np.ndarray:
        """How likely each id is where a token is shown that tells nothing of the label, float64 (V,)."""
        assert self._random_ids is not None
        return self._random_ids.probabilities(counts.shape[0])

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int | None = 0) -> Masked:
        """Mask a batch of examples: the same ids and labels for an example in any batch."""
        assert self._random_ids is not None, "a mask made without a vocabulary checks its settings and masks nothing"
        examples = self._own_arrays(examples)
        streams = _streams(int(seed), int(self.data_epoch(epoch)))
        units, atoms = self.partition(examples, key=streams.partition, step=step)
        ranks = self.ranks(examples, key=streams.rank)
        anchors = self.anchors(examples, ranks, key=streams.anchor)
        partition = Partition(units, atoms, examples.maskable, ranks, examples.offsets)
        return self.corrupt(examples, partition, anchors, ratio=self._ratios.at(step), streams=streams)

    def select(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: "Streams"
    ) -> np.ndarray:
        """The selected positions at a ratio, bool (N,)."""
        draws = uniforms(streams.budget, examples.keys)
        return BUDGETS[self.budget](partition, ratio, draws, anchors, self.at_least_one)

    def corrupt(
        self, examples: Examples, partition: Partition, anchors: np.ndarray, *, ratio: float, streams: "Streams"
    ) -> Masked:
        """Select and replace. `examples` are the mask's own: its tokens become the input."""
        selected = self.select(examples, partition, anchors, ratio=ratio, streams=streams)
        return self.show(examples, selected, partition.units, streams=streams)

    def show(self, examples: Examples, selected: np.ndarray, units: np.ndarray, *, streams: "Streams") -> Masked:
        """Replace what is selected, bool (N,); `units`, bool (N,), say what shares a draw of its kind."""
        assert self._vocabulary is not None and self._random_ids is not None
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
            _NO_TOKEN if self._vocabulary.mask_token_id is None else self._vocabulary.mask_token_id,
            *self._random_ids,
            self.replace_level == "unit",
        )
        return Masked(examples.tokens, labels, kinds, units)

    def random_ids(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> RandomIds:
        """What random replacements are drawn from; `counts` as in the constructor."""
        if self.random_from == "ordinary":
            return uniform_ids(vocabulary.ordinary_ids)
        if counts is None:
            raise ConfigError("mask.random_from=corpus needs the counts of a text; write mask.random_from=ordinary")
        return corpus_ids(counts, vocabulary)

    def _know(self, vocabulary: Vocabulary, counts: np.ndarray | None) -> None:
        checked_vocabulary(vocabulary, self.replace)
        self._never = np.zeros(vocabulary.size, bool)
        for entry in self.never:
            if isinstance(entry, str):
                raise ConfigError(f"mask.never: {entry!r} is a token; where no tokenizer is at hand, write ids")
            if entry >= vocabulary.size:
                raise ConfigError(f"mask.never: {entry} is no id of the tokenizer, which has {vocabulary.size:,}")
            self._never[entry] = True
        vocabulary = dataclasses.replace(vocabulary, special=vocabulary.special | self._never)
        if not vocabulary.ordinary_ids.shape[0]:
            raise ConfigError("mask.never names every ordinary token: there is nothing to mask")
        self._vocabulary = vocabulary
        self._random_ids = self.random_ids(vocabulary, counts)

    def _own_arrays(self, examples: Examples) -> Examples:
        """Writable copies of one type each: read-only arrays would be compiled for anew."""
        tokens = np.array(examples.tokens, np.int32)
        maskable = np.array(examples.maskable, bool)
        if self.never:
            maskable &= ~self._never[tokens]
        return Examples(
            tokens=tokens,
            offsets=np.array(examples.offsets, np.int64),
            maskable=maskable,
            word_starts=np.array(examples.word_starts, bool),
            keys=np.array(examples.keys, np.uint64),
            columns={name: np.array(column) for name, column in examples.columns.items()},
        )


class Streams(NamedTuple):
    """Keys of the independent streams that a mask draws from."""

    partition: np.uint64
    rank: np.uint64
    budget: np.uint64
    anchor: np.uint64
    kind: np.uint64
    random_id: np.uint64
    order: np.uint64


@lru_cache(maxsize=16)
def _streams(seed: int, data_epoch: int) -> Streams:
    return Streams(*(key_of(seed, f"mask.{name}", data_epoch) for name in Streams._fields))
