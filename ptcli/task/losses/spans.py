"""A stretch of the text: where it begins and where it ends."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.losses.scored import Scored, symmetric_divergence
from ptcli.task.places import Places


class SpanLoss(nn.Module):
    """The mean of two cross-entropies over the places where an answer may lie: of its beginning and of its end (BERT,
    arXiv:1810.04805, whose softmax runs over the question and padding, too). No answer is the classification place.
    """

    def num_outputs(self, num_labels: int) -> int:
        """A beginning and an end."""
        return 2

    def forward(self, outputs: Float[Tensor, "N 2"], batch: Mapping[str, Shaped[Tensor, "..."]]) -> Scored:
        """Losses of the batch's examples; hits have both ends right."""
        places = Places(batch)
        losses, hits, is_scored = [], [], batch["span_starts"] != IGNORE_INDEX
        for wanted, log in zip((batch["span_starts"], batch["span_ends"]), _log(outputs, batch, places), strict=True):
            chosen = log[wanted.clamp(min=0)].masked_fill(~is_scored, 0.0)
            losses.append(-chosen)
            hits.append(chosen.detach() >= places.max(log.detach(), least=torch.finfo(log.dtype).min))
        return Scored((losses[0] + losses[1]) / 2, is_scored, hits[0] & hits[1] & is_scored)

    def divergence(
        self, one: Float[Tensor, "N 2"], other: Float[Tensor, "N 2"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> Float[Tensor, ""]:
        """See `ptcli.task.losses`."""
        places = Places(batch)
        pairs = zip(_log(one, batch, places), _log(other, batch, places), strict=True)
        return torch.stack([symmetric_divergence(*pair) for pair in pairs]).mean()

    def predictions(
        self, outputs: Float[Tensor, "N 2"], batch: Mapping[str, Shaped[Tensor, "..."]]
    ) -> dict[str, Tensor]:
        """Logits of all places, -inf where no answer may lie."""
        allowed = batch["context_places"].flatten()
        starts, ends = outputs.float().masked_fill(~allowed[:, None], float("-inf")).unbind(-1)
        return {"start_logits": starts, "end_logits": ends}


def _log(outputs: Tensor, batch: Mapping[str, Tensor], places: Places) -> tuple[Tensor, Tensor]:
    """Log-probabilities of each place as beginning and as end."""
    allowed = batch["context_places"].flatten()
    return places.log_softmax(outputs[:, 0].float(), allowed), places.log_softmax(outputs[:, 1].float(), allowed)
