"""One of several labels: of an example, or of each word."""

from collections.abc import Mapping, Sequence
from math import inf

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.task.losses.scored import Scored, symmetric_divergence


class ClassLoss(nn.Module):
    """Cross-entropy at the label of each example.

    `label_smoothing`: share of the target that is spread over all labels, in [0, 1) (arXiv:1512.00567).
    `class_weights`: the factor of the loss at each label, in their order; where they do not average 1 over the rows,
    they act on the learning rate, too, since the sum is divided by the number of rows.
    """

    labels, told = "example_labels", "logits"

    def __init__(self, *, label_smoothing: float = 0.0, class_weights: Sequence[float] | None = None):
        super().__init__()
        if not 0 <= label_smoothing < 1:
            raise ConfigError(f"task.label_smoothing={label_smoothing} must lie in [0, 1), such as 0.1.")
        if class_weights is not None and not all(0 < weight < inf for weight in class_weights):
            raise ConfigError(f"task.class_weights={list(class_weights)}: a number above 0 for each label.")
        self.label_smoothing = label_smoothing
        self.class_weights: Tensor | None
        weights = None if class_weights is None else torch.tensor(class_weights, dtype=torch.float32)
        self.register_buffer("class_weights", weights, persistent=False)

    def num_outputs(self, num_labels: int) -> int:
        """A logit for each label. ConfigError where there is nothing to choose between, or weights do not fit."""
        if num_labels < 2:
            raise ConfigError(f"the task has {num_labels} label: there is nothing to learn from fewer than two.")
        if self.class_weights is not None and self.class_weights.shape[0] != num_labels:
            raise ConfigError(
                f"task.class_weights has {self.class_weights.shape[0]} numbers, but the task has {num_labels} labels: "
                "one for each, in their order."
            )
        return num_labels

    def forward(self, outputs: Float[Tensor, "K C"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """Losses and hits of the batch's targets."""
        labels = batch[self.labels]
        losses = F.cross_entropy(
            outputs.float(),
            labels,
            weight=self.class_weights,
            label_smoothing=self.label_smoothing,
            ignore_index=IGNORE_INDEX,
            reduction="none",
        )
        return Scored(losses, labels != IGNORE_INDEX, outputs.detach().argmax(-1) == labels)

    def divergence(
        self, one: Float[Tensor, "K C"], other: Float[Tensor, "K C"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, ""]:
        """See `ptcli.task.losses`."""
        return symmetric_divergence(one.float().log_softmax(-1), other.float().log_softmax(-1))

    def predictions(
        self, outputs: Float[Tensor, "K C"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> dict[str, Tensor]:
        """The logits."""
        return {self.told: outputs.float()}


class TokenLoss(ClassLoss):
    """Cross-entropy at the tag of each word, read off its first token."""

    labels, told = "token_labels", "token_logits"
