from collections.abc import Callable
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from ptcli.errors import ConfigError

_TINY = 1e-30  # so that nothing is divided by 0


class SmoothnessRegulariser:
    """Outputs are to stay the same when the token vectors move a little ("SMART", arXiv:1911.03437).

    A random change of the vectors (N(0, `noise`)) takes one step up the divergence of the outputs, `step_size` long in
    the largest number of each token's, and is scaled so that this number is `radius`; then the divergence counts,
    `weight` times. The paper keeps changes below 1e-5, which float32 hardly feels; the authors' code makes them 1, and
    does not norm the slope, which leaves the direction to chance.
    """

    def __init__(self, *, weight: float = 1.0, noise: float = 1e-5, step_size: float = 1e-3, radius: float = 1.0):
        for key, value in (("weight", weight), ("noise", noise), ("step_size", step_size), ("radius", radius)):
            if not 0 < value < inf:
                raise ConfigError(f"task.adversarial.{key}={value} must be above 0.")
        self.weight, self.noise, self.step_size, self.radius = weight, noise, step_size, radius

    def __call__(
        self,
        outputs: Tensor,
        again: Callable[[Float[Tensor, "B S E"]], Tensor],
        divergence: Callable[[Tensor, Tensor], Float[Tensor, ""]],
        *,
        like: Float[Tensor, "B S E"],
    ) -> Float[Tensor, ""]:
        """The divergence, summed. `again`: outputs with something added to the token vectors, which are as `like`."""
        noise = (torch.randn_like(like) * self.noise).requires_grad_()
        (slope,) = torch.autograd.grad(divergence(again(noise), outputs.detach()), noise)
        slope = slope.nan_to_num(0.0, posinf=0.0, neginf=0.0)
        moved = _normed(noise.detach() + self.step_size * _normed(slope))
        return divergence(again(self.radius * moved), outputs)


def _normed(change: Float[Tensor, "B S E"]) -> Float[Tensor, "B S E"]:
    """The largest of each token's numbers is 1, or all are 0."""
    return change / change.abs().amax(-1, keepdim=True).clamp(min=_TINY)
