from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.shape import Shape


class LearnedPositions(nn.Module):
    """One learned vector for each place, added to the token's (BERT, arXiv:1810.04805). Rows end at `max_positions`.

    `offset`: rows of the table that come before place 0 and are never used; 2 in RoBERTa's checkpoints
    (arXiv:1907.11692), whose table therefore has max_positions + 2 rows.
    """

    enters = "embedding"
    extrapolates = False

    def __init__(self, shape: Shape, *, max_positions: int = 512, offset: int = 0):
        super().__init__()
        if max_positions < 1:
            raise ConfigError(f"model.position.learned.max_positions={max_positions} must be at least 1.")
        if offset < 0:
            raise ConfigError(f"model.position.learned.offset={offset} must be 0 or more.")
        self.max_positions, self.offset = max_positions, offset
        self.table = nn.Embedding(max_positions + offset, shape.embedding_size)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """What is added to the token embeddings."""
        return self.table(position_ids + self.offset if self.offset else position_ids)
