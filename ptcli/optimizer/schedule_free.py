from collections.abc import Sequence

import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.groups import parameter_groups
from ptcli.optimizer.ranges import check_betas, check_eps

try:
    from schedulefree import AdamWScheduleFree
except ModuleNotFoundError as error:
    raise ConfigError(
        'optimizer=schedule_free needs the package schedulefree. Type: pip install "ptcli[optimizers]"'
    ) from error


class ScheduleFree(AdamWScheduleFree):
    """AdamW that averages its weights instead of lowering the learning rate (Schedule-Free, arXiv 2405.15682).

    It trains at one point and is judged at another, the average: `eval()` puts the average into the parameters (for
    evaluation and export), `train()` puts the point of training back, to the bit. Checkpoints hold the point of
    training. The library's own way back is right but for rounding, by which an evaluation would change the training.

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: constant after the warm-up, which schedule=constant makes; larger than AdamW's.
        betas: the share of the average in the point of training, in (0, 1); decay of the second moment, in [0, 1).
        eps: added to the root of the second moment.
        weight_decay: of what `decay_exempt` does not spare; multiplied by the learning rate.
        power: update t counts t^power in the average, times the square of the largest learning rate so far.
        decay_exempt, layer_decay: see parameter_groups.
    """

    takes_decay = False

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 2.5e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        power: float = 0.0,
        decay_exempt: str = "vectors_and_biases",
        layer_decay: float = 1.0,
    ):
        check_eps(eps)
        if check_betas(betas)[0] == 0:
            raise ConfigError("optimizer.betas: the first is above 0 here, such as 0.9, or there is no average.")
        if not 0 <= power < float("inf"):
            raise ConfigError(f"optimizer.power={power}: 0 (all updates count alike) or more.")
        groups = parameter_groups(
            module,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            decay_exempt=decay_exempt,
            layer_decay=layer_decay,
        )
        super().__init__(groups, lr=learning_rate, betas=check_betas(betas), eps=eps, r=power)
        self._point: list[torch.Tensor] = []
        super().train()

    @torch.no_grad()
    def eval(self) -> None:
        """Put the average into the parameters."""
        if not self._point:
            self._point = [parameter.clone() for group in self.param_groups for parameter in group["params"]]
            super().eval()

    @torch.no_grad()
    def train(self) -> None:
        """Put the point of training back."""
        super().train()
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        for parameter, point in zip(parameters, self._point, strict=bool(self._point)):
            parameter.copy_(point)
        self._point = []
