"""A batch of made-up tokens, to measure a model where there is no text yet."""

import torch
from torch import Tensor

from ptcli.batch.contract import IGNORE_INDEX


def made_up_batch(
    rows: int, length: int, *, vocab_size: int, ratio: float, pairs: bool, seed: int = 0
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """A batch as `ptcli.batch.contract` lays it out, and its counts: full rows of one example each, random ids.

    `ratio`: share of the positions that are scored; at least one is. `pairs`: whether each row has two segments and a
    label, which is 0.
    """
    generator = torch.Generator().manual_seed(seed)
    shape = (rows, length)
    ids = torch.randint(vocab_size, shape, generator=generator)
    number = max(1, round(ratio * rows * length))
    scored = torch.randperm(rows * length, generator=generator)[:number].sort().values
    labels = torch.full(shape, IGNORE_INDEX)
    labels.view(-1)[scored] = ids.view(-1)[scored]
    segments, pair_labels = torch.zeros_like(ids), torch.full_like(ids, IGNORE_INDEX)
    firsts = torch.zeros(0, dtype=torch.int64)
    if pairs:
        segments[:, length // 2 :] = 1
        pair_labels[:, 0] = 0
        firsts = torch.arange(rows) * length
    batch = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": segments,
        "position_ids": torch.arange(length).repeat(rows, 1),
        "sequence_ids": torch.ones_like(ids),
        "labels": labels,
        "pair_labels": pair_labels,
        "label_positions": scored,
        "pair_positions": firsts,
    }
    counts = {"labels": number, "pair_labels": len(firsts), "tokens": rows * length, "positions": rows * length}
    return batch, counts
