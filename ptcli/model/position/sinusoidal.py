from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import waves
from ptcli.model.shape import Shape


class SinusoidalPositions(nn.Module):
    """Fixed waves added to the token's vector (arXiv:1706.03762): feature 2i is sin(p / base^(2i/E)), 2i + 1 its cos.

    The paper multiplies token vectors by the square root of their width beforehand; here the embedding norm, which the
    paper lacks, follows instead.
    """

    enters = "embedding"
    extrapolates = True

    def __init__(self, shape: Shape, *, base: float = 10000.0):
        super().__init__()
        if base <= 1:
            raise ConfigError(f"model.position.sinusoidal.base={base} must be above 1.")
        self.base = base
        self.size = shape.embedding_size

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """What is added to the token embeddings, float32."""
        return waves(position_ids, self.size, base=self.base)
