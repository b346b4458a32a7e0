"""What an objective returns: sums and counts, so that the mean is taken once, over the whole optimiser step."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Loss:
    """Parts by name ("masked_lm", "pair"). `sums`: summed loss, with gradient. `counts`: scored positions behind each.

    `correct`: how many of them were predicted right. `weights`: each part's factor in the total (default 1).
    `positions`: the loss of each scored position, detached, in the order of the batch's positions, and `hits`: whether
    it was predicted right, likewise; evaluation reads them.
    """

    sums: dict[str, Tensor]
    counts: dict[str, Tensor]
    correct: dict[str, Tensor] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    positions: dict[str, Tensor] = field(default_factory=dict)
    hits: dict[str, Tensor] = field(default_factory=dict)
