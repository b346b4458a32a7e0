"""Attention that leaves out what a long row's masks would hide: in a band or by examples on CPUs, by blocks on CUDA.

Places are counted by where they stand in the row, which is the same as `position_ids` within an example. Under
torch.compile and torch.export the mask stays whole, so that no shape depends on the batch.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

BAND_BLOCK = 64
"""Queries that a block of a band holds at least: fewer make products too small to be fast."""

BAND_BLOCKS = 8
"""Blocks that a row has at least where a band is worth its while: each block reads three, after copying them."""

EXAMPLES_LENGTH = 512
"""Places that a packed row has at least on CPUs where its examples are worked out one after another."""

SHORTEST_EXAMPLES = 64
"""Places that such examples have at least on an average: shorter ones are faster under one mask."""

CUDA_LENGTH, CUDA_HEAD_SIZE = 512, 16
"""Places of a row and features of a head at least on CUDA: blocks are 128 wide there, and short rows have few."""


@dataclass(frozen=True, slots=True)
class Band:
    """Rows of `length` in blocks of queries, each of which reads the keys of its own block and of the two beside it.

    `mask`: what is added to the scores; N blocks take the place of a row.
    """

    length: int
    block: int
    mask: Float[Tensor, "BN 1 Q W"]

    def fold(
        self, query: Float[Tensor, "B h S d"], key: Float[Tensor, "B h S d"], value: Float[Tensor, "B h S d"]
    ) -> tuple[Float[Tensor, "BN h Q d"], Float[Tensor, "BN h W d"], Float[Tensor, "BN h W d"]]:
        """Heads, with blocks for rows."""
        own = _own(query, self.block), _read(key, self.block), _read(value, self.block)
        query, key, value = (part.transpose(1, 2).flatten(0, 1) for part in own)
        return query, key, value

    def unfold(self, attended: Float[Tensor, "BN h Q d"]) -> Float[Tensor, "B h S d"]:
        """Rows again."""
        blocks = -(-self.length // self.block)
        return attended.unflatten(0, (-1, blocks)).transpose(1, 2).flatten(2, 3)[:, :, : self.length]


def band_width(length: int, window: int) -> int | None:
    """Keys that each query is multiplied with in a band; None where rows of `length` have none."""
    block = max(window // 2, BAND_BLOCK)
    return 3 * block if length >= BAND_BLOCKS * block else None


def band_of(sequence_ids: Int[Tensor, "B S"], window: int, dtype: torch.dtype) -> Band | None:
    """The band in which a position sees `window // 2` places of its own example on each side.

    None where the whole mask is as good or needed: on short rows, and on other devices than CPUs.
    """
    batch, length = sequence_ids.shape
    if sequence_ids.device.type != "cpu" or torch.compiler.is_compiling() or band_width(length, window) is None:
        return None
    block = max(window // 2, BAND_BLOCK)
    places = torch.arange(1, length + 1).expand(batch, -1)  # 0: what fills up the last block
    ids, places = sequence_ids[:, None, :, None], places[:, None, :, None]
    same = _own(ids, block) == _read(ids, block).transpose(3, 4)  # (B, 1, N, block, 3 block)
    near = (_own(places, block) - _read(places, block).transpose(3, 4)).abs() <= window // 2
    seen = (same & near).transpose(1, 2).flatten(0, 1)
    return Band(length, block, torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, float("-inf")))


@dataclass(frozen=True, slots=True)
class Examples:
    """Packed rows, one behind the other, as stretches: each an example, or padding (not `real`)."""

    lengths: list[int]
    real: list[bool]

    def apart(
        self, query: Float[Tensor, "B h S d"], key: Float[Tensor, "B h S d"], value: Float[Tensor, "B h S d"]
    ) -> Iterator[tuple[bool, tuple[Tensor, Tensor, Tensor]]]:
        """Of each stretch whether it is real, and its heads, (1, h, n, d) each."""
        rows = (part.transpose(0, 1).flatten(1, 2)[None].split(self.lengths, 2) for part in (query, key, value))
        return zip(self.real, zip(*rows, strict=True), strict=True)

    def together(self, attended: list[Tensor], num_rows: int) -> Float[Tensor, "B h S d"]:
        """Rows again, from what the stretches attend to, (1, h, n, d) each."""
        return torch.cat(attended, 2)[0].unflatten(1, (num_rows, -1)).transpose(0, 1)


def examples_of(sequence_ids: Int[Tensor, "B S"]) -> Examples | None:
    """The examples of packed rows.

    None where the whole mask is as good or needed: short rows, rows of one example, short examples.
    """
    batch, length = sequence_ids.shape
    if sequence_ids.device.type != "cpu" or torch.compiler.is_compiling() or length < EXAMPLES_LENGTH:
        return None
    most = int(sequence_ids.max()) + 1
    if most <= 2:
        return None
    stretches, lengths = (
        (sequence_ids + most * torch.arange(batch)[:, None]).flatten().unique_consecutive(return_counts=True)
    )
    if batch * length < SHORTEST_EXAMPLES * lengths.shape[0]:
        return None
    return Examples(lengths.tolist(), (stretches % most > 0).tolist())


def cuda_blocks(sequence_ids: Int[Tensor, "B S"], window: int | None, *, head_size: int) -> BlockMask | None:
    """The blocks of a row that hold anything to see, for `attend_blocks`; None where the whole mask is as good.

    A position sees its own example, and of that `window // 2` places on each side, or all.
    """
    if sequence_ids.device.type != "cuda" or torch.compiler.is_compiling():
        return None
    if sequence_ids.shape[1] < CUDA_LENGTH or head_size < CUDA_HEAD_SIZE:
        return None
    return blocks_of(sequence_ids, window)


def blocks_of(sequence_ids: Int[Tensor, "B S"], window: int | None) -> BlockMask:
    """As `cuda_blocks`, whatever the device."""
    batch, length = sequence_ids.shape
    reach = length if window is None else window // 2
    return create_block_mask(
        lambda row, _, query, key: (
            (sequence_ids[row, query] == sequence_ids[row, key]) & ((query - key).abs() <= reach)
        ),
        batch,
        None,
        length,
        length,
        device=sequence_ids.device,
    )


def attend_blocks(
    query: Float[Tensor, "B h S d"],
    key: Float[Tensor, "B h S d"],
    value: Float[Tensor, "B h S d"],
    blocks: BlockMask,
    *,
    scale: float,
) -> Float[Tensor, "B h S d"]:
    """The attention of each position by FlexAttention; compiled on CUDA, since there it exists as a kernel only so."""
    kernel = _compiled() if query.device.type == "cuda" else flex_attention
    return kernel(query, key, value, block_mask=blocks, scale=scale)  # type: ignore[return-value]


@cache
def _compiled() -> Callable[..., Tensor]:
    return torch.compile(flex_attention)  # type: ignore[return-value]


def _own(rows: Shaped[Tensor, "B h S d"], block: int) -> Shaped[Tensor, "B h N Q d"]:
    """Rows cut into blocks; zeros fill up the last."""
    return F.pad(rows, (0, 0, 0, -rows.shape[2] % block)).unflatten(2, (-1, block))


def _read(rows: Shaped[Tensor, "B h S d"], block: int) -> Shaped[Tensor, "B h N W d"]:
    """For each block: the one before, itself, the one behind; zeros stand beyond the ends."""
    blocks = _own(F.pad(rows, (0, 0, block, block)), block)
    return torch.cat((blocks[:, :, :-2], blocks[:, :, 1:-1], blocks[:, :, 2:]), 3)
