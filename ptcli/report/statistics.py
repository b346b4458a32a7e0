"""What a mask did, counted over many examples. Sums over batches, so that memory does not grow with their number."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptcli.batch.contract import Column
from ptcli.mask.examples import KEPT, MASKED, NOT_SELECTED, PERMUTED, RANDOM, Examples, Masked

TENTHS = 10


@dataclass
class Statistics:
    """Counts of one mask.

    `replace`: the shares of selected tokens that were to be masked, random or permuted, and kept; None without a mask.
    `mean_words`: the mean of the law that unit lengths are drawn by; None where the text decides.
    """

    replace: Sequence[float] | None = None
    mean_words: float | None = None
    examples: int = 0
    rows: int = 0
    tokens: int = 0  # special ones included
    maskable: int = 0
    selected: int = 0
    asked: float = 0.0  # tokens that the ratio asked for
    kinds: Counter[int] = field(default_factory=Counter)
    unit_tokens: Counter[int] = field(default_factory=Counter)  # units by how many of their tokens are selected
    unit_words: Counter[int] = field(default_factory=Counter)  # units by how many words these tokens belong to
    words: int = 0  # with a selected token
    whole_words: int = 0  # with all of their tokens selected
    maskable_by_tenth: np.ndarray = field(default_factory=lambda: np.zeros(TENTHS, np.int64))
    selected_by_tenth: np.ndarray = field(default_factory=lambda: np.zeros(TENTHS, np.int64))
    labels: dict[str, Counter[int]] = field(default_factory=dict)  # by the column that is added to the batch

    def add(
        self,
        examples: Examples,
        masked: Masked,
        *,
        added: Mapping[Column, np.ndarray],
        num_rows: int,
        ratio_asked: float,
    ) -> None:
        """Count a batch of flat examples. `added`: the columns of the batch that parts add to it, before laying out."""
        maskable = np.asarray(examples.maskable, bool)
        selected = masked.kinds != NOT_SELECTED
        self.examples += examples.offsets.shape[0] - 1
        self.rows += num_rows
        self.tokens += examples.tokens.shape[0]
        self.maskable += int(maskable.sum())
        self.selected += int(selected.sum())
        self.asked += ratio_asked * int(maskable.sum())
        self.kinds += _count(masked.kinds[selected])
        for column, values in added.items():
            self.labels.setdefault(column.name, Counter())
            self.labels[column.name] += _count(values[values != column.fill])
        self._add_units(examples, masked, selected)
        tenth = _tenths(maskable, examples.offsets)
        self.maskable_by_tenth += np.bincount(tenth, minlength=TENTHS)
        self.selected_by_tenth += np.bincount(tenth[selected[maskable]], minlength=TENTHS)

    def _add_units(self, examples: Examples, masked: Masked, selected: np.ndarray) -> None:
        starts = np.asarray(examples.word_starts, bool).copy()
        firsts = examples.offsets[:-1]
        starts[firsts[firsts < starts.shape[0]]] = True
        word = np.cumsum(starts)
        unit = np.cumsum(masked.units)[selected]
        word_there = word[selected]
        if not unit.size:
            return
        changes = np.ones(unit.size, bool)
        changes[1:] = (unit[1:] != unit[:-1]) | (word_there[1:] != word_there[:-1])
        tokens, words = np.bincount(unit), np.bincount(unit[changes])
        self.unit_tokens += _count(tokens[tokens > 0])
        self.unit_words += _count(words[words > 0])
        taken = np.bincount(word_there, minlength=word[-1] + 1)
        there = np.bincount(word[examples.maskable], minlength=word[-1] + 1)
        self.words += int((taken > 0).sum())
        self.whole_words += int(((taken > 0) & (taken == there)).sum())

    @property
    def ratio(self) -> float:
        """Selected share of the maskable tokens."""
        return self.selected / max(self.maskable, 1)

    @property
    def ratio_asked(self) -> float:
        """The ratio that was asked for, over the same tokens."""
        return self.asked / max(self.maskable, 1)

    @property
    def mean_unit_words(self) -> float:
        """Words of a selected unit, on average; what the budget cuts off is not counted."""
        return sum(words * units for words, units in self.unit_words.items()) / max(self.unit_words.total(), 1)

    def kind_share(self, kind: int) -> float:
        """Share of the selected tokens that are MASKED, RANDOM, KEPT or PERMUTED."""
        return self.kinds[kind] / max(self.selected, 1)

    @property
    def by_tenth(self) -> np.ndarray:
        """Selected share of the maskable tokens in each tenth of an example's body, float64 (10,)."""
        return self.selected_by_tenth / np.maximum(self.maskable_by_tenth, 1)

    def as_dict(self, columns: Sequence[Column] = ()) -> dict[str, Any]:
        """Plain figures for JSON. `columns`: those that parts add to the batch."""
        shares = {"masked": MASKED, "random": RANDOM, "kept": KEPT, "permuted": PERMUTED}
        return {
            "examples": self.examples,
            "rows": self.rows,
            "tokens": self.tokens,
            "maskable_tokens": self.maskable,
            "selected_tokens": self.selected,
            "ratio_asked": self.ratio_asked,
            "ratio": self.ratio,
            "replacement_asked": None if self.replace is None else [float(share) for share in self.replace],
            "replacement": {name: self.kind_share(kind) for name, kind in shares.items()},
            "units_by_tokens": dict(sorted(self.unit_tokens.items())),
            "units_by_words": dict(sorted(self.unit_words.items())),
            "unit_words_asked": self.mean_words,
            "unit_words": self.mean_unit_words,
            "words_touched": self.words,
            "words_whole": self.whole_words,
            "ratio_by_tenth_of_the_body": self.by_tenth.tolist(),
            **{column.name: self._told(column) for column in columns},
        }

    def _told(self, column: Column) -> dict[str, int]:
        counts = self.labels.get(column.name, Counter())
        if column.classes is None and not column.names:
            return {"scored": counts.total()}
        names = column.names or [str(value) for value in range(column.classes or 0)]
        return {name: counts[value] for value, name in enumerate(names)}


def _count(values: np.ndarray) -> Counter[int]:
    found, counts = np.unique(values, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def _tenths(maskable: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The tenth of its example's body, 0 to 9, that each maskable position lies in: int64 (M,)."""
    before = np.concatenate([[0], np.cumsum(maskable)])
    sizes = before[offsets[1:]] - before[offsets[:-1]]
    example = np.repeat(np.arange(sizes.shape[0]), sizes)
    rank = np.arange(example.shape[0]) - np.repeat(before[offsets[:-1]], sizes)
    return rank * TENTHS // sizes[example]
