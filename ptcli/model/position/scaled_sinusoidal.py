import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.distances import waves
from ptcli.model.shape import Shape


class ScaledSinusoidalPositions(nn.Module):
    """Sine and cosine waves times one learned number, which begins at 1 / sqrt(E), added to the token's vector
    ("Transformer Quality in Linear Time", arXiv:2202.10447; "Cramming", arXiv:2212.14034).
    """

    enters = "embedding"
    extrapolates = True

    def __init__(self, shape: Shape, *, base: float = 10000.0):
        super().__init__()
        if base <= 1:
            raise ConfigError(f"model.position.scaled_sinusoidal.base={base} must be above 1.")
        self.base = base
        self.size = shape.embedding_size
        self.scale = nn.Parameter(torch.tensor([self.size**-0.5]))

    def forward(self, position_ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """What is added to the token embeddings."""
        return self.scale * waves(position_ids, self.size, base=self.base)
