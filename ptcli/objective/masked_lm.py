from collections.abc import Mapping

from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.model.encoder import Encoder
from ptcli.model.heads import MaskedLMHead, PairHead
from ptcli.objective.loss import Loss


class MaskedLM(nn.Module):
    """Predict the original token at each scored position, and, where pairs are made, the pair's label at each [CLS].

    BERT (arXiv:1810.04805). The vocabulary is computed at scored positions only: the same loss for less work.
    `pair` is what makes the pairs (its `num_labels`, 0 for none, decides whether a pair head is built); `pair_weight`
    is the pair loss's factor in the total, 1 in BERT and ALBERT. `tie` and `transform`: see MaskedLMHead.
    """

    needs_mask = True
    needs_bidirectional = True

    def __init__(self, *, model: Encoder, pair, pair_weight: float = 1.0, tie: bool = True, transform: bool = True):
        super().__init__()
        if pair_weight <= 0:
            raise ConfigError(f"objective.pair_weight={pair_weight} must be above 0. For no pair loss, use pair=none.")
        self.weights = {"masked_lm": 1.0}
        self.denominators = {"masked_lm": "labels"}
        self.masked_lm_head = MaskedLMHead(
            hidden_size=model.hidden_size,
            embedding_size=model.embedding_size,
            vocab_size=model.vocab_size,
            activation=model.activation,
            norm=model.norm_factory,
            tie=tie,
            transform=transform,
            initializer_range=model.initializer_range,
        )
        self.pair_head = None
        if pair.num_labels:
            self.pair_head = PairHead(
                hidden_size=model.hidden_size, num_labels=pair.num_labels, initializer_range=model.initializer_range
            )
            self.weights["pair"] = pair_weight
            self.denominators["pair"] = "pair_labels"

    def forward(self, model: nn.Module, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Loss:
        """Sums, counts and hits of a batch, as ptcli.batch.contract lays it out."""
        hidden = model(batch).flatten(0, 1)  # (B * S, H)
        loss = Loss(sums={}, counts={}, correct={}, weights=self.weights)
        logits = self._masked_lm_logits(model, hidden, batch["label_positions"])
        _score(loss, "masked_lm", logits, batch["labels"], batch["label_positions"])
        if self.pair_head is not None:
            logits = self.pair_head(hidden.index_select(0, batch["pair_positions"]))
            _score(loss, "pair", logits, batch["pair_labels"], batch["pair_positions"])
        return loss

    def predict(self, model: nn.Module, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Float[Tensor, "N V"]:
        """Logits over the vocabulary at batch["label_positions"], in their order."""
        return self._masked_lm_logits(model, model(batch).flatten(0, 1), batch["label_positions"])

    def _masked_lm_logits(self, model, hidden: Float[Tensor, "T H"], positions: Int[Tensor, " N"]):
        return self.masked_lm_head(hidden.index_select(0, positions), model.embeddings.tokens.weight)


def _score(loss: Loss, part: str, logits: Tensor, labels: Tensor, positions: Tensor) -> None:
    targets = labels.flatten().index_select(0, positions)
    # Positions may be padded to a fixed number with unscored ones, so the count is taken from the targets.
    losses = F.cross_entropy(logits.float(), targets, ignore_index=IGNORE_INDEX, reduction="none")
    loss.sums[part] = losses.sum()
    loss.positions[part] = losses.detach()
    loss.counts[part] = (targets != IGNORE_INDEX).sum()
    loss.correct[part] = (logits.detach().argmax(-1) == targets).sum()
