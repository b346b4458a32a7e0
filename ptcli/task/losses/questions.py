"""Examples that are judged together: the choices of a question, the candidates of a query."""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.task.losses.scored import Scored, symmetric_divergence


class _ScoreLoss(nn.Module):
    """Each example has a score, which means something beside those of its question."""

    def num_outputs(self, num_labels: int) -> int:
        """One: a score."""
        return 1

    def divergence(
        self, one: Float[Tensor, "E 1"], other: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, ""]:
        """See `ptcli.task.losses`."""
        together = _together(batch)
        return symmetric_divergence(*(_log_softmax(scores[:, 0].float(), together) for scores in (one, other)))

    def predictions(
        self, outputs: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> dict[str, Tensor]:
        """The scores."""
        return {"scores": outputs[:, 0].float()}


class ChoiceLoss(_ScoreLoss):
    """Cross-entropy of the right choice, by a softmax over the scores of the choices of a question (SWAG in BERT,
    arXiv:1810.04805).
    """

    def forward(self, outputs: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """The loss of a question stands at its right choice."""
        scores, together = outputs[:, 0].float(), _together(batch)
        is_right = batch["example_labels"] == 1
        losses = -_log_softmax(scores, together).masked_fill(~is_right, 0.0)
        best = scores.detach().expand_as(together).masked_fill(~together, float("-inf")).max(-1).values
        return Scored(losses, is_right, is_right & (scores.detach() >= best))


class RankLoss(_ScoreLoss):
    """-log sigmoid(s_i - s_j) for candidates i of more and j of less relevance, averaged over the pairs of a query
    (RankNet, Burges et al., ICML 2005).
    """

    def forward(self, outputs: Float[Tensor, "E 1"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """The loss of a query stands at its first candidate. Without two that differ in relevance, it has none."""
        scores, together, relevance = outputs[:, 0].float(), _together(batch), batch["example_labels"].float()
        is_better = together & (relevance[:, None] > relevance[None, :])  # false wherever one is NaN
        costs = (F.softplus(scores[None, :] - scores[:, None]) * is_better).sum(-1)
        wrong = ((scores.detach()[:, None] <= scores.detach()[None, :]) & is_better).any(-1)
        pairs = together.float() @ is_better.sum(-1).float()
        steps = torch.arange(scores.shape[0], device=scores.device)
        is_first = ~(together & (steps[None, :] < steps[:, None])).any(-1)
        is_scored = is_first & (pairs > 0)
        losses = (together.float() @ costs) / pairs.clamp(min=1)
        hits = ~(together & wrong[None, :]).any(-1)
        return Scored(losses * is_scored, is_scored, hits & is_scored)


def _together(batch: Mapping[str, Tensor]) -> Bool[Tensor, "E E"]:
    numbers = batch["question_numbers"]
    return numbers[:, None] == numbers[None, :]


def _log_softmax(scores: Float[Tensor, " E"], together: Bool[Tensor, "E E"]) -> Float[Tensor, " E"]:
    return scores - scores.expand_as(together).masked_fill(~together, float("-inf")).logsumexp(-1)
