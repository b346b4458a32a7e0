from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.shape import Shape


class LearnedPositions(nn.Module):
    """One learned vector for each place, added to the token's (BERT, arXiv:1810.04805). Rows end at `max_positions`."""

    enters = "embedding"
    extrapolates = False

    def __init__(self, shape: Shape, *, max_positions: int = 512):
        super().__init__()
        if max_positions < 1:
            raise ConfigError(f"model.position.learned.max_positions={max_positions} must be at least 1.")
        self.max_positions = max_positions
        self.table = nn.Embedding(max_positions, shape.embedding_size)

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """What is added to the token embeddings."""
        return self.table(position_ids)
