from collections.abc import Callable, Mapping
from functools import partial

from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from ptcli.batch.contract import LABELS, PAIR_LABELS, Column
from ptcli.errors import ConfigError
from ptcli.model.encoder import Encoder
from ptcli.model.heads import EnhancedMaskDecoder, MaskedLMHead, PairHead
from ptcli.objective.loss import Loss, cross_entropy
from ptcli.objective.objective import Objective


class MaskedLM(Objective):
    """Predict the original token at each scored position, and, where pairs are made, the pair's label at each [CLS].

    BERT (arXiv:1810.04805). The vocabulary is computed at scored positions only: the same loss for less work.
    `pair` is what makes the pairs (its `num_labels`, 0 for none, decides whether a pair head is built); `pair_weight`
    is the pair loss's factor in the total, 1 in BERT and ALBERT. `tie`, `transform`, `width`, `bias` and `dense_bias`:
    see MaskedLMHead. `decoder_positions`: places of DeBERTa's enhanced mask decoder, None for none.
    """

    main = "masked_lm"
    needs_bidirectional = True

    def __init__(
        self,
        *,
        model: Encoder,
        pair,
        pair_weight: float = 1.0,
        tie: bool = True,
        transform: bool = True,
        width: int | None = None,
        bias: bool = True,
        dense_bias: bool = True,
        decoder_positions: int | None = None,
    ):
        super().__init__()
        if pair_weight <= 0:
            raise ConfigError(f"objective.pair_weight={pair_weight} must be above 0. For no pair loss, use pair=none.")
        self.declare("masked_lm", of=LABELS.name, predicts="the tokens that are hidden")
        self.masked_lm_head = MaskedLMHead(
            hidden_size=model.hidden_size,
            embedding_size=model.embedding_size,
            vocab_size=model.vocab_size,
            activation=model.activation,
            norm=model.norm_factory,
            tie=tie,
            transform=transform,
            width=width,
            bias=bias,
            dense_bias=dense_bias,
            initializer=model.initializer,
        )
        self.mask_decoder = None
        if decoder_positions is not None:
            self.mask_decoder = EnhancedMaskDecoder(
                max_positions=decoder_positions,
                hidden_size=model.hidden_size,
                initializer=model.initializer,
            )
        self.pair_head = None
        if pair.num_labels:
            self.pair_head = PairHead(
                hidden_size=model.hidden_size, num_labels=pair.num_labels, initializer=model.initializer
            )
            self.declare("pair", of=PAIR_LABELS.name, predicts="sentence pairs", weight=pair_weight)

    def losses(self, model: nn.Module, batch: Mapping[str, Shaped[Tensor, "..."]]) -> tuple[Loss, Callable[[], Tensor]]:
        """The masked tokens, and the pairs where there are any."""
        hidden, decoded = self._states(model, batch)
        loss = Loss(sums={}, counts={}, weights=self.weights)
        logits = self._masked_lm_logits(model, decoded, batch[LABELS.positions])
        loss.add("masked_lm", cross_entropy(logits, _at(batch, LABELS)))
        if self.pair_head is not None:
            logits = self.pair_head(hidden().flatten(0, 1).index_select(0, batch[PAIR_LABELS.positions]))
            loss.add("pair", cross_entropy(logits, _at(batch, PAIR_LABELS)))
        return loss, hidden

    def predict(self, model: nn.Module, batch: Mapping[str, Shaped[Tensor, "..."]]) -> Float[Tensor, "N V"]:
        """Logits over the vocabulary at batch["label_positions"], in their order."""
        return self._masked_lm_logits(model, self._states(model, batch)[1], batch[LABELS.positions])

    def flops_per_token(self, model: Encoder, length: int) -> int:
        """Floating-point operations of a forward pass for each token of a row of `length`: the model's, and those of
        the mask decoder's runs of its last layer. Heads are not counted.
        """
        body = model.flops_per_token(length)
        if self.mask_decoder is None:
            return body
        more = self.mask_decoder.passes - (self.pair_head is None)  # pairs need the layer as it is, too
        return body + more * model.layer_flops_per_token(len(model.order) - 1, length)

    def head_flops(self, model: Encoder) -> int:
        """As in Objective; the output matrix is the embeddings' where it is tied."""
        tied = self.masked_lm_head.decoder is None
        return super().head_flops(model) + 2 * tied * model.embeddings.tokens.weight.numel()

    def _states(self, model, batch) -> tuple[Callable[[], Tensor], Tensor]:
        """The model's hidden states, computed when asked for, and those that tokens are predicted from, (B, S, H)."""
        if self.mask_decoder is None:
            hidden = model(batch)
            return lambda: hidden, hidden
        contexts, last = model.contexts(batch), len(model.order) - 1
        before = model.run(model.embed(batch), contexts, layers=range(last))
        last_layer = partial(model.run, contexts=contexts, layers=range(last, last + 1))
        decoded = self.mask_decoder(before, batch["position_ids"], lambda seen, q: last_layer(seen, queries=q))
        return lambda: model.finish(last_layer(before)), model.finish(decoded)

    def _masked_lm_logits(self, model, states: Float[Tensor, "B S H"], positions: Int[Tensor, " N"]):
        return self.masked_lm_head(states.flatten(0, 1).index_select(0, positions), model.embeddings.tokens.weight)


def _at(batch: Mapping[str, Tensor], column: Column) -> Tensor:
    return batch[column.name].flatten().index_select(0, batch[column.positions])
