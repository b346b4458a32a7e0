"""The settings that all masks share, and their checks."""

import math
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from ptcli.errors import ConfigError
from ptcli.mask.ratio import is_number
from ptcli.tokenizer.vocabulary import Vocabulary


class MaskSettings(TypedDict, total=False):
    """The arguments of MaskStrategy, which says what they mean: strategies take them beside their own."""

    ratio: float
    later_ratios: Sequence[float]
    ratio_schedule: str
    schedule_steps: int | None
    budget: str
    copies: int | None
    replace: Sequence[float]
    replace_level: str
    random_from: str
    at_least_one: bool
    never: Sequence[int | str]
    vocabulary: Vocabulary | None
    counts: np.ndarray | None


def one_of(key: str, value: Any, choices: Sequence[str] | dict) -> str:
    """`value` where it is one of the choices."""
    if value not in tuple(choices):
        raise ConfigError(f"{key}={value} is unknown; choose one of {', '.join(choices)}")
    return value


def checked_flag(key: str, value: Any) -> bool:
    """`value` where it is true or false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{key}={value}: write true or false")
    return value


def checked_whole(key: str, value: Any, meaning: str, *, least: int = 1, most: int | None = None) -> int:
    """`value` where it is a whole number of the range; `meaning` ends the message."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        reach = f"from {least}" if most is None else f"from {least} to {most}"
        raise ConfigError(f"{key}={value}: write a whole number {reach}, {meaning}")
    return value


def checked_copies(copies: int | None) -> int | None:
    """A number of copies, or None."""
    meaning = "as many masks as that, used in turn, or null for a new mask in every epoch"
    return None if copies is None else checked_whole("mask.copies", copies, meaning)


def checked_steps(steps: int | None) -> int | None:
    """A number of optimiser steps, or None."""
    meaning = "the optimiser steps of the schedule, or null for those of budget.steps"
    return None if steps is None else checked_whole("mask.schedule_steps", steps, meaning)


def checked_replace(replace: Sequence[float]) -> tuple[float, float, float]:
    """Three shares that sum to 1."""
    shares = tuple(replace) if isinstance(replace, Sequence) and not isinstance(replace, str) else ()
    if len(shares) != 3 or not all(is_number(share) and 0 <= share <= 1 for share in shares):
        raise ConfigError(f"mask.replace={replace}: write three shares, [mask,random,keep], such as [0.8,0.1,0.1]")
    total = math.fsum(shares)
    if abs(total - 1) > 1e-6:
        raise ConfigError(
            f"mask.replace={list(shares)} sums to {total:g}; [mask,random,keep] are shares of the selected tokens and "
            "sum to 1, such as [0.8,0.1,0.1]"
        )
    return float(shares[0]), float(shares[1]), float(shares[2])


def checked_never(never: Sequence[int | str]) -> tuple[int | str, ...]:
    """Ids and tokens. Where a vocabulary is known, the command has made ids of the tokens (`never_ids`)."""
    if isinstance(never, str) or not isinstance(never, Sequence) or not all(_id_or_token(entry) for entry in never):
        raise ConfigError(f"mask.never={never}: write a list of ids or tokens, such as [the,of], or [] for none")
    return tuple(never)


def checked_vocabulary(vocabulary: Vocabulary, replace: tuple[float, float, float]) -> None:
    """Raise ConfigError where the vocabulary has nothing to show or nothing to mask."""
    if vocabulary.mask_token_id is None and replace[0] > 0:
        raise ConfigError(
            f"mask.replace={list(replace)} shows the mask token, but the tokenizer has none. Use one with a "
            "mask token (tokenizer=wordpiece trains one), or mask.replace=[0,0.5,0.5]"
        )
    if not vocabulary.ordinary_ids.shape[0]:
        raise ConfigError("the tokenizer has no ordinary tokens: there is nothing to mask or to draw")


def _id_or_token(entry: Any) -> bool:
    return isinstance(entry, str) or (isinstance(entry, int) and not isinstance(entry, bool) and entry >= 0)
