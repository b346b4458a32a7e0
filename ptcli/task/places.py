"""Which example each place of a packed batch belongs to, and sums, maxima and softmaxes over the places of one."""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor


class Places:
    """The E examples of a task batch, found by `example_positions` and `sequence_ids`: no position is of two examples.

    `owner` int64 (B * S,): the example of each place, in the order of the batch's examples; E where there is none
    (padding, or an example that is not of the batch).
    """

    def __init__(self, batch: Mapping[str, Shaped[Tensor, "..."]]):
        sequence_ids, places = batch["sequence_ids"], batch["example_positions"]
        num_rows, length = sequence_ids.shape
        self.num_examples = places.shape[0]
        of_sequence = torch.full(
            (num_rows, length + 1), self.num_examples, dtype=torch.int64, device=sequence_ids.device
        )
        numbers = torch.arange(self.num_examples, device=sequence_ids.device)
        of_sequence[places // length, sequence_ids.flatten()[places]] = numbers
        of_sequence[:, 0] = self.num_examples
        self.owner = of_sequence.gather(1, sequence_ids).flatten()

    def sum(self, values: Float[Tensor, "N ..."]) -> Float[Tensor, "E ..."]:
        """The sum over each example's places."""
        total = values.new_zeros(self.num_examples + 1, *values.shape[1:])
        return total.index_add(0, self.owner, values)[:-1]

    def max(self, values: Shaped[Tensor, "N ..."], *, least: float) -> Shaped[Tensor, "E ..."]:
        """The largest over each example's places. `least`: below all values."""
        owner = self.owner.view(-1, *[1] * (values.ndim - 1)).expand_as(values)
        start = values.new_full((self.num_examples + 1, *values.shape[1:]), least)
        return start.scatter_reduce(0, owner, values, reduce="amax", include_self=True)[:-1]

    def log_softmax(self, scores: Float[Tensor, " N"], allowed: Bool[Tensor, " N"]) -> Float[Tensor, " N"]:
        """Log-probabilities over each example's allowed places; -inf elsewhere. Finite where a place is allowed."""
        scores = scores.masked_fill(~allowed, float("-inf"))
        highest = self.max(scores.detach(), least=torch.finfo(scores.dtype).min)
        shifted = scores - self.spread(highest)
        return shifted - self.spread(self.sum(shifted.exp()).clamp(min=torch.finfo(scores.dtype).tiny).log())

    def spread(self, values: Float[Tensor, "E ..."]) -> Float[Tensor, "N ..."]:
        """Each example's value at each of its places; 0 where there is no example."""
        return torch.cat((values, values.new_zeros(1, *values.shape[1:])))[self.owner]

    def counts(self) -> Float[Tensor, " E"]:
        """How many places each example has."""
        return self.sum(torch.ones(self.owner.shape[0], device=self.owner.device))
