"""What is known of each scored position beside its loss: how it was masked, in what unit, and in which document."""

from dataclasses import dataclass, fields

import numpy as np

from ptcli.batch.collate import Gathered
from ptcli.mask.examples import KEPT, MASKED, NOT_SELECTED, PERMUTED, RANDOM, Masked


@dataclass(frozen=True, slots=True)
class Scored:
    """Arrays over scored positions, in the order of the batch's `label_positions`."""

    kinds: np.ndarray  # uint8 (N,): MASKED, RANDOM, KEPT or PERMUTED
    first_pieces: np.ndarray  # bool (N,): the token begins a word
    unit_lengths: np.ndarray  # int64 (N,): selected tokens of the position's unit (token, word, span)
    documents: np.ndarray  # int64 (N,): number of its document among those that are evaluated


def scored_positions(gathered: Gathered, masked: Masked) -> Scored:
    """The scored positions of some rows, whose examples have the column `documents`."""
    selected = masked.kinds != NOT_SELECTED
    units = np.cumsum(masked.units)[selected]
    return Scored(
        kinds=masked.kinds[selected],
        first_pieces=np.asarray(gathered.examples.word_starts, bool)[selected],
        unit_lengths=np.bincount(units)[units] if units.size else np.zeros(0, np.int64),
        documents=gathered.examples["documents"][selected],
    )


def joined(parts: list[Scored]) -> Scored:
    """The scored positions of several batches, one after the other."""
    return Scored(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Scored)))


def groups(scored: Scored) -> dict[str, np.ndarray]:
    """The kinds of positions that are reported by themselves: bool (N,) by name.

    What is shown there (masked, random, kept, permuted), where in its word the token stands (first_piece, later_piece),
    and how many tokens of its unit are hidden together (unit_of_1, unit_of_2, unit_of_3_to_4, unit_of_5_or_more).
    """
    lengths = scored.unit_lengths
    return {
        "masked": scored.kinds == MASKED,
        "random": scored.kinds == RANDOM,
        "kept": scored.kinds == KEPT,
        "permuted": scored.kinds == PERMUTED,
        "first_piece": scored.first_pieces,
        "later_piece": ~scored.first_pieces,
        "unit_of_1": lengths == 1,
        "unit_of_2": lengths == 2,
        "unit_of_3_to_4": (lengths == 3) | (lengths == 4),
        "unit_of_5_or_more": lengths >= 5,
    }
