"""What stands on top of an encoder in pretraining. Objectives build these; an encoder has none of its own."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ptcli.errors import ConfigError
from ptcli.model.initialization import initialize


class MaskedLMHead(nn.Module):
    """Hidden states to vocabulary: dense, activation, norm, then the product with the embeddings, and a bias.

    BERT's head (arXiv:1810.04805), and ALBERT's where the dense layer narrows to the embedding size (arXiv:1909.11942).
    `tie=False`: a matrix of its own, of hidden size, in place of the embeddings. `transform=False`: no dense layer.
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
        initializer_range: float = 0.02,
    ):
        super().__init__()
        width = embedding_size if tie else hidden_size
        if not transform and width != hidden_size:
            raise ConfigError(
                "objective.transform=false with objective.tie=true multiplies hidden states and embeddings, which are "
                f"{hidden_size} and {embedding_size} wide here. Use objective.transform=true, objective.tie=false, or "
                "model.embedding_size=null."
            )
        self.dense = nn.Linear(hidden_size, width) if transform else None
        self.activation = activation
        self.norm = norm(width) if transform else None
        self.decoder = None if tie else nn.Linear(width, vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        initialize(self, std=initializer_range)

    def forward(self, hidden: Float[Tensor, "N H"], embeddings: Float[Tensor, "V E"]) -> Float[Tensor, "N V"]:
        """Logits. `embeddings`: the token table, which is the output matrix too where the head is tied."""
        if self.dense is not None and self.norm is not None:
            hidden = self.norm(self.activation(self.dense(hidden)))
        return F.linear(hidden, embeddings if self.decoder is None else self.decoder.weight, self.bias)


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

    def __init__(self, *, hidden_size: int, num_labels: int, initializer_range: float = 0.02):
        super().__init__()
        self.pooler = Pooler(hidden_size)
        self.classifier = nn.Linear(hidden_size, num_labels)
        initialize(self, std=initializer_range)

    def forward(self, hidden: Float[Tensor, "M H"]) -> Float[Tensor, "M L"]:
        """Logits, from the hidden states of the classification positions."""
        return self.classifier(self.pooler(hidden))
