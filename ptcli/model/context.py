"""What all layers of one forward pass share: who may see whom, and where each token stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from ptcli.model.distances import Distances
from ptcli.model.sparse import Band, Examples


@dataclass(frozen=True, slots=True)
class Context:
    """`mask` is added to the attention scores: 0 where a key is seen, -inf where not; None: every key is seen.

    `band`, `examples` or `blocks` says the same in its place where most of a long row's mask would be -inf
    (ptcli.model.sparse).
    `rotations` turn queries and keys of shape (B, S, 2, h, d_h), one after another. `relations`: by the name of a
    position, what its share in each attention reads.
    """

    mask: Float[Tensor, "#B #h #Q S"] | None
    rotations: tuple[Callable[[Tensor], Tensor], ...] = ()
    relations: Mapping[str, Distances] = field(default_factory=dict)
    band: Band | None = None
    examples: Examples | None = None
    blocks: BlockMask | None = None


def visibility_mask(sequence_ids: Int[Tensor, "B S"], dtype: torch.dtype) -> Float[Tensor, "B 1 Q S"] | None:
    """The additive mask by which a position sees just the real positions of its own example.

    On the CPU the batch decides the form: None where each row is one full example, (B, 1, 1, S) where rows are padded,
    (B, 1, S, S) where they are packed. Elsewhere always the last, so that nothing waits for the device. No query is
    left without a key (padding sees padding, an empty row sees itself), so that no softmax gives NaN.
    """
    if sequence_ids.device.type == "cpu" and not torch.compiler.is_compiling() and int(sequence_ids.max()) <= 1:
        real = sequence_ids > 0
        if bool(real.all()):
            return None
        seen = (real | ~real.any(1, keepdim=True))[:, None, None, :]
    else:
        seen = (sequence_ids[:, :, None] == sequence_ids[:, None, :])[:, None]
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, float("-inf"))


def window_mask(position_ids: Int[Tensor, "B S"], window: int, dtype: torch.dtype) -> Float[Tensor, "B 1 S S"]:
    """The additive mask by which a position sees `window // 2` neighbours on each side, and itself."""
    far = (position_ids[:, None, :, None] - position_ids[:, None, None, :]).abs() > window // 2
    return torch.zeros(far.shape, dtype=dtype, device=far.device).masked_fill_(far, float("-inf"))


def compute_dtype(parameter: Tensor) -> torch.dtype:
    """What matrix products are computed in: autocast's type where it is on, the parameters' own otherwise."""
    kind = parameter.device.type
    autocast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if autocast else parameter.dtype
