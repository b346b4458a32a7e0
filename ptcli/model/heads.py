"""What stands on top of an encoder in pretraining. Objectives build these; an encoder has none of its own."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.errors import ConfigError
from ptcli.model.initialization import Initializer

_BERT = Initializer()


class MaskedLMHead(nn.Module):
    """Hidden states to vocabulary: dense, activation, norm, then the product with the embeddings, and a bias.

    BERT's head (arXiv:1810.04805), and ALBERT's where the dense layer narrows to the embedding size (arXiv:1909.11942).
    `tie=False`: a matrix of its own in place of the embeddings. `transform=False`: no dense layer. `width`: of what is
    multiplied with the output matrix; None: the embeddings' where tied, the hidden states' where not. `bias`: whether
    each token has one. `dense_bias`: whether the dense layer has one.
    """

    def __init__(
        self,
        *,
        hidden_size: int,
        embedding_size: int,
        vocab_size: int,
        activation: nn.Module,
        norm: Callable[[int], nn.Module],
        tie: bool = True,
        transform: bool = True,
        width: int | None = None,
        bias: bool = True,
        dense_bias: bool = True,
        initializer: Initializer = _BERT,
    ):
        super().__init__()
        if width is None:
            width = embedding_size if tie else hidden_size
        if width < 1 or (tie and width != embedding_size):
            raise ConfigError(
                f"objective.width={width} does not go with objective.tie={str(tie).lower()}, because embeddings are "
                f"{embedding_size} wide. Use objective.width=null, or a width above 0 with objective.tie=false."
            )
        if not transform and width != hidden_size:
            raise ConfigError(
                f"objective.transform=false with objective.tie={str(tie).lower()} multiplies hidden states and an "
                f"output matrix, which are {hidden_size} and {width} wide here. Use objective.transform=true, "
                "objective.tie=false with objective.width=null, or model.embedding_size=null."
            )
        self.dense = nn.Linear(hidden_size, width, bias=dense_bias) if transform else None
        self.activation = activation
        self.norm = norm(width) if transform else None
        self.decoder = None if tie else nn.Linear(width, vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if bias else None
        initializer.start(self)
        initializer.scale_outward(self)

    def forward(self, hidden: Float[Tensor, "N H"], embeddings: Float[Tensor, "V E"]) -> Float[Tensor, "N V"]:
        """Logits. `embeddings`: the token table, which is the output matrix too where the head is tied."""
        if self.dense is not None and self.norm is not None:
            hidden = self.norm(self.activation(self.dense(hidden)))
        return F.linear(hidden, embeddings if self.decoder is None else self.decoder.weight, self.bias)


class EnhancedMaskDecoder(nn.Module):
    """Before tokens are predicted, places come in: the last layer runs twice more in place of once, its queries the
    layer's own input plus a learned vector for each place, then what came out ("DeBERTa", arXiv:2006.03654).

    Keys and values stay those of the last layer; only the table of places is new.
    """

    passes = 2

    def __init__(self, *, max_positions: int, hidden_size: int, initializer: Initializer = _BERT):
        super().__init__()
        if max_positions < 1:
            raise ConfigError(
                f"objective.decoder_positions={max_positions} must be at least 1, or null for no mask decoder."
            )
        self.max_positions = max_positions
        self.table = nn.Embedding(max_positions, hidden_size)
        initializer.start(self)

    def forward(
        self,
        before: Float[Tensor, "B S H"],
        position_ids: Int[Tensor, "B S"],
        last_layer: Callable[[Tensor, Tensor], Tensor],
    ) -> Float[Tensor, "B S H"]:
        """The states to predict from. `before`: what enters the last layer. `last_layer(before, queries)` runs it."""
        queries = before + self.table(position_ids)
        for _ in range(self.passes):
            queries = last_layer(before, queries)
        return queries


class Pooler(nn.Module):
    """One dense layer and tanh over the hidden state of the classification position (BERT, arXiv:1810.04805)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden: Float[Tensor, "M H"]) -> Float[Tensor, "M H"]:
        """The pooled states."""
        return torch.tanh(self.dense(hidden))


class PairHead(nn.Module):
    """Pooler and classifier of a sentence-pair task: next sentence, sentence order."""

    def __init__(self, *, hidden_size: int, num_labels: int, initializer: Initializer = _BERT):
        super().__init__()
        self.pooler = Pooler(hidden_size)
        self.classifier = nn.Linear(hidden_size, num_labels)
        initializer.start(self)

    def forward(self, hidden: Float[Tensor, "M H"]) -> Float[Tensor, "M L"]:
        """Logits, from the hidden states of the classification positions."""
        return self.classifier(self.pooler(hidden))
