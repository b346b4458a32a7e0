"""Numbers: one value, or any of several labels."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.errors import ConfigError
from ptcli.task.losses.scored import Scored, symmetric_divergence


class ValueLoss(nn.Module):
    """The squared error of a value, without an activation before it (MT-DNN, arXiv:1901.11504)."""

    def num_outputs(self, num_labels: int) -> int:
        """One."""
        return 1

    def forward(self, outputs: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """Losses of the batch's examples; NaN is no label."""
        wanted = batch["example_labels"].float()
        is_scored = ~wanted.isnan()
        return Scored((outputs[:, 0].float() - wanted.nan_to_num()).square() * is_scored, is_scored)

    def divergence(
        self, one: Float[Tensor, "E 1"], other: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, ""]:
        """See `ptcli.task.losses`."""
        return (one.float() - other.float()).square().sum()

    def predictions(
        self, outputs: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> dict[str, Tensor]:
        """The values."""
        return {"values": outputs[:, 0].float()}


class ClassesLoss(nn.Module):
    """Binary cross-entropy of each label, averaged over the labels."""

    def num_outputs(self, num_labels: int) -> int:
        """A logit for each label."""
        if num_labels < 1:
            raise ConfigError("the task has no label: there is nothing to learn.")
        return num_labels

    def forward(self, outputs: Float[Tensor, "E C"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """Losses of the batch's examples; hits are those with every label right."""
        wanted = batch["example_labels"].float()
        is_scored = ~wanted.isnan().any(-1)
        losses = F.binary_cross_entropy_with_logits(outputs.float(), wanted.nan_to_num(), reduction="none").mean(-1)
        hits = ((outputs.detach() > 0) == (wanted > 0.5)).all(-1)
        return Scored(losses * is_scored, is_scored, hits)

    def divergence(
        self, one: Float[Tensor, "E C"], other: Float[Tensor, "E C"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, ""]:
        """See `ptcli.task.losses`."""
        return symmetric_divergence(_both(one), _both(other)) / one.shape[-1]

    def predictions(
        self, outputs: Float[Tensor, "E C"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> dict[str, Tensor]:
        """The logits."""
        return {"logits": outputs.float()}


def _both(logits: Float[Tensor, "E C"]) -> Float[Tensor, "E C 2"]:
    """Log-probabilities of having and of not having each label."""
    return F.logsigmoid(torch.stack((logits.float(), -logits.float()), -1))
