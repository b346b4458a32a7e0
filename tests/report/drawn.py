"""Rows to draw: a text given as words of pieces, and masks given by hand."""

from dataclasses import replace

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX, PAIR_LABELS
from ptcli.mask.examples import Examples, Masked
from ptcli.report.rows import ShownRow, shown_rows

MASK = "[MASK]"
PAIRS = replace(PAIR_LABELS, names=("in_order", "swapped"))


def examples_of(*texts: str) -> tuple[Examples, list[str]]:
    """Examples of words between spaces, their pieces between hyphens; [..] is special. Ids are places in the list."""
    tokens, starts, maskable, offsets = [], [], [], [0]
    for text in texts:
        for word in text.split(" "):
            for number, piece in enumerate(word.split("-")):
                tokens.append(piece)
                starts.append(number == 0)
                maskable.append(not piece.startswith("["))
        offsets.append(len(tokens))
    names = [MASK, *tokens]
    ids = np.arange(1, len(names), dtype=np.int32)
    keys = np.arange(len(texts), dtype=np.uint64)
    segments = np.zeros(len(ids), np.uint8)
    examples = Examples(ids, np.array(offsets), np.array(maskable), np.array(starts), keys, {"segments": segments})
    return examples, names


def masked_at(examples: Examples, kinds: dict[int, int], *, shown: dict[int, int], units: list[int]) -> Masked:
    """A mask by hand: the kind at each selected position, what is shown there, where units begin."""
    all_kinds = np.zeros(len(examples.tokens), np.uint8)
    all_kinds[list(kinds)] = list(kinds.values())
    inputs = examples.tokens.copy()
    for place, id in shown.items():
        inputs[place] = id
    begins = np.zeros(len(examples.tokens), bool)
    begins[units] = True
    labels = np.where(all_kinds > 0, examples.tokens, IGNORE_INDEX).astype(np.int32)
    return Masked(inputs, labels, all_kinds, begins)


def rows_of(
    examples: Examples, names: list[str], masks: dict[str, Masked], *, rows: list[int] | None = None, **changes
) -> list[ShownRow]:
    """Drawn rows; one example a row unless `rows` says otherwise."""
    number = len(examples.offsets) - 1
    if "segments" in changes:
        examples = examples.with_columns(segments=changes.pop("segments"))
    if "pair_labels" in changes:
        changes["added"] = {PAIRS: changes.pop("pair_labels")}
    settings = {
        "added": {},
        "row_of_example": np.array(rows if rows is not None else range(number)),
        "text": lambda id: names[id],
        **changes,
    }
    return list(shown_rows(examples, masks, **settings))
