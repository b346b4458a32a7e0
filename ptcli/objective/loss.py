"""What an objective returns: sums and counts, so that the mean is taken once, over the whole optimiser step."""

from dataclasses import dataclass, field

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX


@dataclass(frozen=True, slots=True)
class Scored:
    """The predictions of one term: the loss of each, with gradient, whether it was right (where that has a meaning),
    and how many there are, where some positions are padding.
    """

    losses: Float[Tensor, " N"]
    hits: Bool[Tensor, " N"] | None = None
    count: Int[Tensor, ""] | None = None


def cross_entropy(logits: Float[Tensor, "N C"], targets: Int[Tensor, " N"]) -> Scored:
    """Of predictions of classes; a target of IGNORE_INDEX pads the positions to a fixed number and is not scored."""
    losses = F.cross_entropy(logits.float(), targets, ignore_index=IGNORE_INDEX, reduction="none")
    return Scored(losses, logits.detach().argmax(-1) == targets, (targets != IGNORE_INDEX).sum())


@dataclass(frozen=True, slots=True)
class Loss:
    """Terms by name ("masked_lm", "pair"). `sums`: summed loss, with gradient. `counts`: scored positions behind each.

    `correct`: how many of them were predicted right. `weights`: each term's factor in the total (default 1).
    `positions`: the loss of each scored position, detached, in the order of the batch's positions, and `hits`: whether
    it was predicted right, likewise; evaluation reads them.
    """

    sums: dict[str, Tensor]
    counts: dict[str, Tensor]
    correct: dict[str, Tensor] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    positions: dict[str, Tensor] = field(default_factory=dict)
    hits: dict[str, Tensor] = field(default_factory=dict)

    def add(self, term: str, scored: Scored) -> None:
        """Count a term in."""
        self.sums[term] = scored.losses.sum()
        self.positions[term] = scored.losses.detach()
        self.counts[term] = scored.losses.new_tensor(len(scored.losses)) if scored.count is None else scored.count
        if scored.hits is not None:
            self.hits[term], self.correct[term] = scored.hits, scored.hits.sum()
