from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from ptcli.errors import ConfigError


class RDrop:
    """Two passes with different dropout are to give the same ("R-Drop", arXiv:2106.14448): half their symmetric
    divergence counts, `weight` times (the paper's alpha, 0.5 to 5). The task's loss is the mean of the two passes'.
    """

    def __init__(self, *, weight: float):
        if weight <= 0:
            raise ConfigError(f"task.r_drop={weight} must be above 0; null: outputs are not compared.")
        self.weight = weight

    def __call__(
        self, one: Tensor, other: Tensor, divergence: Callable[[Tensor, Tensor], Float[Tensor, ""]]
    ) -> Float[Tensor, ""]:
        """Half the divergence, summed."""
        return divergence(one, other) / 2
