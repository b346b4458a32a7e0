"""A batch of made-up tokens, to measure a model where there is no text yet."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ptcli.batch.contract import LABELS, PAIR_LABELS, Column

_SHARE = 0.05  # of the positions: what an added column scores


def made_up_batch(
    rows: int,
    length: int,
    *,
    vocab_size: int,
    ratio: float,
    pairs: bool,
    added: Sequence[Column] = (),
    seed: int = 0,
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """A batch as `ptcli.batch.contract` lays it out, and its counts: full rows of one example each, random ids.

    `ratio`: share of the positions whose token is to be predicted; at least one is. `pairs`: whether each row has two
    segments and a label, which is 0. `added`: columns that parts add.
    """
    generator = torch.Generator().manual_seed(seed)
    shape = (rows, length)
    ids = torch.randint(vocab_size, shape, generator=generator)
    segments = torch.zeros_like(ids)
    if pairs:
        segments[:, length // 2 :] = 1
    batch = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": segments,
        "position_ids": torch.arange(length).repeat(rows, 1),
        "sequence_ids": torch.ones_like(ids),
    }
    firsts = torch.arange(rows) * length
    hidden = _drawn(rows * length, ratio, generator)
    scored = {LABELS: hidden, PAIR_LABELS: firsts if pairs else firsts[:0]}
    values = {LABELS: ids.view(-1)[hidden], PAIR_LABELS: torch.zeros(len(scored[PAIR_LABELS]), dtype=torch.int64)}
    for column in added:
        scored[column] = firsts if column.kind == "example" else _drawn(rows * length, _SHARE, generator)
        values[column] = torch.randint(column.classes or vocab_size, scored[column].shape, generator=generator)
    for column, places in scored.items():
        batch |= _laid_out(column, places, values[column], shape)
    counts = {column.name: len(places) for column, places in scored.items()}
    return batch, {**counts, "tokens": rows * length, "positions": rows * length}


def _drawn(number: int, share: float, generator: torch.Generator) -> Tensor:
    """A share of the places [0, `number`), at least one, ascending."""
    return torch.randperm(number, generator=generator)[: max(1, round(share * number))].sort().values


def _laid_out(column: Column, places: Tensor, values: Tensor, shape: tuple[int, int]) -> dict[str, Tensor]:
    dtype = getattr(torch, column.dtype)
    if column.kind == "position":
        return {column.name: places}
    if column.kind == "value":
        return {column.name: values.to(dtype)}
    laid = torch.full(shape, column.fill, dtype=dtype)
    laid.view(-1)[places] = values.to(dtype)
    return {column.name: laid, column.positions: places}
