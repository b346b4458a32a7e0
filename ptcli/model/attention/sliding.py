from collections.abc import Mapping

from torch import nn

from ptcli.errors import ConfigError
from ptcli.model.attention.full import FullAttention
from ptcli.model.shape import Shape


class SlidingAttention(FullAttention):
    """Most layers see a window around each position, every so-many-th sees all (Longformer, arXiv:2004.05150; the
    alternation is ModernBERT's, arXiv:2412.13663).

    `window`: places in all, half of them on each side, the position itself not counted. `full_every`: layers 0, 3, 6
    and so on see all where it is 3; 0: none does. Long rows are worked out in blocks that leave out what lies beyond
    the window (ptcli.model.sparse), unless a position adds to the scores; other rows under a mask.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        dropout: float,
        relations: Mapping[str, nn.Module] | None = None,
        window: int = 128,
        full_every: int = 3,
        bias: bool = True,
        key_bias: bool = True,
    ):
        super().__init__(shape, dropout=dropout, relations=relations, bias=bias, key_bias=key_bias)
        if window < 2 or window % 2:
            raise ConfigError(
                f"model.attention.window={window} must be even and at least 2: half of it lies on each side. "
                f"Use {max(window // 2, 1) * 2}."
            )
        if full_every < 0 or full_every == 1:
            raise ConfigError(
                f"model.attention.full_every={full_every} must be 0 (no layer sees all) or at least 2. "
                f"For layers that all see all, use model/attention=full."
            )
        self.window_size, self.full_every = window, full_every

    def window(self, layer: int) -> int | None:
        return None if self.full_every and layer % self.full_every == 0 else self.window_size
