"""From the states of an example's tokens to one vector, or none where each token counts for itself.

A choice of task/pooling is a class here, `Pooling`; the others follow from the kind of task. Examples of one row never
mix.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from ptcli.model.heads import Pooler
from ptcli.model.initialization import Initializer
from ptcli.task.places import Places

Batch = Mapping[str, Shaped[Tensor, "..."]]


class Pooling(nn.Module):
    """forward(hidden (B, S, H), batch) -> (E, H): a vector for each example of a task batch, in its order."""

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__()


class ClassificationToken(Pooling):
    """The state of the classification token, as it is (RoBERTa, arXiv:1907.11692; BERT puts a pooler behind it)."""

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        return hidden.flatten(0, 1).index_select(0, batch["example_positions"])


class PooledToken(Pooling):
    """The state of the classification token behind a dense layer and tanh (BERT, arXiv:1810.04805).

    It starts from the pooler that pretraining on pairs trained, where the checkpoint has one.
    """

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__(hidden_size)
        self.pooler = Pooler(hidden_size)
        (initializer or Initializer()).start(self)

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        return self.pooler(hidden.flatten(0, 1).index_select(0, batch["example_positions"]))


class MeanPooling(Pooling):
    """The mean over all tokens of the example, special ones included (Sentence-BERT, arXiv:1908.10084)."""

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        places = Places(batch)
        return places.sum(hidden.flatten(0, 1).float()) / places.counts().clamp(min=1)[:, None]


class MaxPooling(Pooling):
    """The largest value of each dimension over the example's tokens, special ones included (Sentence-BERT,
    arXiv:1908.10084).
    """

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        return Places(batch).max(hidden.flatten(0, 1).float(), least=torch.finfo(torch.float32).min)


class LastToken(Pooling):
    """The state of the example's last token, which is what a left-to-right model has read all of (GPT, 2018)."""

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        places = Places(batch)
        last = places.max(torch.arange(places.owner.shape[0], device=hidden.device), least=0)
        return hidden.flatten(0, 1).index_select(0, last)


class AttentionPooling(Pooling):
    """A mean of the example's tokens whose weights are learned: softmax over w . tanh(W h) ("Hierarchical Attention
    Networks", Yang et al., NAACL 2016). It starts as nearly the plain mean.
    """

    def __init__(self, hidden_size: int, *, initializer: Initializer | None = None):
        super().__init__(hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.score = nn.Linear(hidden_size, 1, bias=False)
        (initializer or Initializer()).start(self)

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "E H"]:
        places, states = Places(batch), hidden.flatten(0, 1)
        scores = self.score(torch.tanh(self.dense(states)))[:, 0].float()
        shares = places.log_softmax(scores, places.owner < places.num_examples).exp()
        return places.sum(shares[:, None] * states.float())


class ComparedPairs(nn.Module):
    """Of two vectors u and v, the features [u, v, |u - v|, u * v] (InferSent, arXiv:1705.02364).

    `pooling` makes the vectors. The texts of a pair are the examples 2 i and 2 i + 1 of the batch.
    """

    width = 4  # times that of one vector

    def __init__(self, pooling: nn.Module):
        super().__init__()
        self.pooling = pooling

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "P W"]:
        one, other = self.pooling(hidden, batch).unflatten(0, (-1, 2)).unbind(1)
        return torch.cat((one, other, (one - other).abs(), one * other), -1)


class LabelledTokens(nn.Module):
    """The state of the first token of each word, at the batch's token_positions (tagging in BERT, arXiv:1810.04805)."""

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "T H"]:
        return hidden.flatten(0, 1).index_select(0, batch["token_positions"])


class EveryPlace(nn.Module):
    """The state of every place of the batch, padding included."""

    def forward(self, hidden: Float[Tensor, "B S H"], batch: Batch) -> Float[Tensor, "N H"]:
        return hidden.flatten(0, 1)
