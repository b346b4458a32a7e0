import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.shape import Shape


class RotaryPositions(nn.Module):
    """Queries and keys are turned by angles that grow with the place, so that scores see only distances ("RoFormer",
    arXiv:2104.09864).

    Feature i of the first half of a head turns with feature i of the second half (as in GPT-NeoX and ModernBERT; the
    paper pairs neighbours, which is the same up to the order of features), by p / base^(2i/d_h). `local_base`: that of
    layers which see a window only (ModernBERT, arXiv:2412.13663); None: as in the others.
    """

    enters = "query_key"
    extrapolates = True

    def __init__(self, shape: Shape, *, base: float = 10000.0, local_base: float | None = None):
        super().__init__()
        if shape.head_size % 2:
            raise ConfigError(
                f"model/position=rotary turns features in pairs, but heads are {shape.head_size} wide "
                f"(model.hidden_size={shape.hidden_size} over model.num_heads={shape.num_heads}). Choose an even width."
            )
        for name, value in (("base", base), ("local_base", local_base)):
            if value is not None and value <= 1:
                raise ConfigError(f"model.position.rotary.{name}={value} must be above 1.")
        self.base = base
        self.local_base = base if local_base is None else local_base
        self.size = shape.head_size

    def forward(
        self, position_ids: Int[Tensor, "B S"], *, dtype: torch.dtype = torch.float32, local: bool = False
    ) -> "Rotation":
        """The rotation of these positions, for all layers, or for those that see a window (`local`).

        Angles are float32, their sine and cosine `dtype`.
        """
        exponents = torch.arange(0, self.size, 2, device=position_ids.device, dtype=torch.float32) / self.size
        base = self.local_base if local else self.base
        angles = position_ids.unsqueeze(-1).float() * base**-exponents  # (B, S, d_h / 2)
        cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
        return Rotation(torch.cat((cos, cos), -1)[:, :, None, None], torch.cat((-sin, sin), -1)[:, :, None, None])


class Rotation:
    """Turns heads of shape (B, S, 2, h, d_h) by the angles of their positions."""

    def __init__(self, cos: Float[Tensor, "B S 1 1 d"], sin: Float[Tensor, "B S 1 1 d"]):
        self.cos, self.sin = cos, sin

    def __call__(self, heads: Float[Tensor, "B S two h d"]) -> Float[Tensor, "B S two h d"]:
        """The turned heads."""
        return torch.addcmul(heads * self.cos, heads.roll(heads.shape[-1] // 2, -1), self.sin)
