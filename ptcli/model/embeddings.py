"""From ids to the first hidden states."""

from collections.abc import Callable, Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.model.initialization import dropout as dropout_of


class Embeddings(nn.Module):
    """The sum of token, segment and position vectors, normed, dropped out, and widened where the model is factorised.

    BERT (arXiv:1810.04805); the factorisation is ALBERT's (arXiv:1909.11942): all tables and the norm have the narrow
    width, one matrix leads from there to the hidden size. `norm`: None for none. `task_type_vocab_size`: rows of a
    table of tasks (ERNIE 2.0, arXiv:1907.12412), of which row `task_type` is added everywhere; 0: none.
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        project: bool,
        type_vocab_size: int,
        norm: Callable[[int], nn.Module] | None,
        dropout: float,
        task_type_vocab_size: int = 0,
        task_type: int = 0,
    ):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, embedding_size)
        self.types = nn.Embedding(type_vocab_size, embedding_size) if type_vocab_size else None
        self.task_types = nn.Embedding(task_type_vocab_size, embedding_size) if task_type_vocab_size else None
        self.task_type = task_type
        self.norm = norm(embedding_size) if norm is not None else nn.Identity()
        self.dropout = dropout_of(dropout)
        self.projection = nn.Linear(embedding_size, hidden_size) if project else None

    def forward(
        self,
        input_ids: Int[Tensor, "B S"],
        token_type_ids: Int[Tensor, "B S"],
        positions: Sequence[Float[Tensor, "#B S E"]],
        token_noise: Float[Tensor, "B S E"] | None = None,
    ) -> Float[Tensor, "B S H"]:
        """Hidden states. `positions`: what the position slots add. `token_noise`: a change of the token vectors."""
        hidden = self.tokens(input_ids)
        if token_noise is not None:
            hidden = hidden + token_noise
        if self.types is not None:
            hidden = hidden + self.types(token_type_ids)
        if self.task_types is not None:
            hidden = hidden + self.task_types.weight[self.task_type]
        for position in positions:
            hidden = hidden + position
        hidden = self.dropout(self.norm(hidden))
        return hidden if self.projection is None else self.projection(hidden)
