"""Named units of the text (entities, phrases) are selected as wholes."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from ptcli.compiled import compiled
from ptcli.errors import ConfigError
from ptcli.mask.examples import Examples
from ptcli.mask.settings import MaskSettings, one_of
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.units import word_units

LEVELS: dict[str, tuple[str, ...]] = {"basic": (), "phrase": ("phrase",), "entity": ("entity", "phrase")}
"""What `mask.levels` may hold, with the types of units that are wholes there."""
BASIC = ("word", "token")


class PhraseMask(MaskStrategy):
    """Units are entities and phrases, and words where there are none of them (ERNIE, arXiv 1904.09223).

    The words choice finds them (words=entities, words=spans); where they overlap there, entities come before phrases.
    Differs from ERNIE's code: the ratio is met by tokens instead of units, and the levels follow one another in one
    run instead of lying in separate files.

    Args:
        levels: `basic` (no named units), `phrase` (phrases) or `entity` (phrases and entities); of several, each is
            used for an equal part of `schedule_steps`, and evaluations use the last.
        basic: what is a unit where no named one is: each `word` or each `token`.
        unit_types: names of the types of units in the store, as the words choice has them; the command gives them.
        settings: as in MaskStrategy.
    """

    needs = frozenset({"words", "units"})

    def __init__(
        self,
        *,
        levels: Sequence[str] = ("entity",),
        basic: str = "word",
        unit_types: Sequence[str] = ("entity", "phrase"),
        **settings: Unpack[MaskSettings],
    ):
        if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
            raise ConfigError(f"mask.levels={levels}: write a list, such as [entity] or [basic,phrase,entity]")
        self.levels = tuple(one_of("mask.levels", level, LEVELS) for level in levels)
        self.basic = one_of("mask.basic", basic, BASIC)
        super().__init__(**settings)
        self._whole = [_whole(level, tuple(unit_types)) for level in self.levels]

    @property
    def scheduled(self) -> bool:
        """As in MaskStrategy; or the level does."""
        return super().scheduled or len(self.levels) > 1

    def level_at(self, step: int | None) -> str:
        """The level at an optimiser step; at None, in evaluations, the last."""
        return self.levels[self._level_at(step)]

    def partition(self, examples: Examples, *, key: np.uint64, step: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Each named unit of the level is a unit and an atom, and so is each word outside of them."""
        if "unit_starts" not in examples:
            raise ConfigError("mask=phrase masks entities and phrases, but the text has none: use words=entities")
        units = _named_units(
            word_units(examples) if self.basic == "word" else examples.maskable,
            examples.maskable,
            examples.offsets,
            examples["unit_starts"],
            examples["unit_types"],
            self._whole[self._level_at(step)],
        )
        return units, units

    def _level_at(self, step: int | None) -> int:
        if step is None or len(self.levels) == 1:
            return len(self.levels) - 1
        assert self.schedule_steps is not None, "levels that change with the step need their number of steps"
        return min(step * len(self.levels) // self.schedule_steps, len(self.levels) - 1)


def _whole(level: str, unit_types: tuple[str, ...]) -> np.ndarray:
    """Whether a token of each type of unit (0: none) belongs to a whole, bool (1 + types,)."""
    if level == "phrase" and "phrase" not in unit_types:
        raise ConfigError(
            f"mask.levels: the text has no phrases, only {' and '.join(unit_types) or 'no named units at all'}. "
            "Write mask.levels=[basic,entity], or use words=spans with phrases in its file"
        )
    return np.array([False, *(name in LEVELS[level] for name in unit_types)])


@compiled
def _named_units(words, maskable, offsets, unit_starts, unit_types, whole):
    """Where units begin, bool (N,): at named ones of the chosen types, and at words outside of them."""
    begins = np.zeros(words.shape[0], np.bool_)
    for e in range(offsets.shape[0] - 1):
        goes_on, was_inside = False, False  # whether the position before is maskable, and inside a chosen unit
        for i in range(offsets[e], offsets[e + 1]):
            inside = whole[unit_types[i]]
            first = unit_starts[i] if inside else words[i]
            begins[i] = maskable[i] & (first | (inside != was_inside) | (not goes_on))
            goes_on, was_inside = maskable[i], inside
    return begins
