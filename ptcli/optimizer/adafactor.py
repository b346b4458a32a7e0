import torch
from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.groups import parameter_groups
from ptcli.optimizer.ranges import check_eps


class Adafactor(torch.optim.Adafactor):
    """Steps relative to each tensor's size; a second moment of rows and columns only (Adafactor, arXiv 1804.04235).

    It needs next to no memory: no first moment, and for a matrix one number a row and a column. T5 (arXiv 1910.10683)
    trains with it: learning_rate=0.01 and schedule=inverse_sqrt with schedule.flat=true, schedule.warmup=10000. As in
    the paper, a step is never longer than 1 / sqrt(t) of a tensor at update t, whatever the learning rate says.

    Args:
        module: whose parameters are trained, already on its device; given by the command.
        learning_rate: length of a step relative to the root mean square of the tensor it changes.
        min_scale: what counts as a tensor's root mean square where that is smaller, so that zeros can grow.
        decay_rate: the second moment at update t keeps 1 - t^-decay_rate of itself; 0 or more.
        clip: an update whose root mean square is longer than this is shortened to it, 1 or more.
        eps: the least root of the second moment.
        weight_decay: of what `decay_exempt` does not spare; multiplied by the learning rate.
        decay_exempt, layer_decay: see parameter_groups.
    """

    takes_parts = False  # torch's takes no sharded tensors

    def __init__(
        self,
        module: nn.Module,
        *,
        learning_rate: float = 0.01,
        min_scale: float = 1e-3,
        decay_rate: float = 0.8,
        clip: float = 1.0,
        eps: float = 1e-15,
        weight_decay: float = 0.0,
        decay_exempt: str = "vectors_and_biases",
        layer_decay: float = 1.0,
    ):
        check_eps(eps)
        check_eps(min_scale, key="min_scale")
        if not 0 <= decay_rate < float("inf"):
            raise ConfigError(f"optimizer.decay_rate={decay_rate}: 0 or more, such as 0.8.")
        if not 1 <= clip < float("inf"):
            raise ConfigError(f"optimizer.clip={clip}: 1 or more, such as 1.0.")
        groups = parameter_groups(
            module,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            decay_exempt=decay_exempt,
            layer_decay=layer_decay,
        )
        super().__init__(groups, lr=learning_rate, beta2_decay=-decay_rate, eps=(eps, min_scale), d=clip)
