from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from ptcli.errors import CheckpointError
from ptcli.trainer.sharded import local, put


class Average:
    """An exponential moving average of the weights, kept in float32 beside those that are trained.

    After each step every average moves towards its weight by 1 - decay. In the first steps the decay is no more than
    (1 + step) / (10 + step), so that the weights before training are soon forgotten, as in TensorFlow's.
    """

    def __init__(self, module: nn.Module, *, decay: float):
        self._decay = decay
        self._names = [name for name, parameter in module.named_parameters() if parameter.requires_grad]
        self._weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self._averages = [weight.detach().float().clone() for weight in self._weights]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """After optimiser step number `step`, counted from 0."""
        decay = min(self._decay, (1 + step) / (10 + step))
        weights = [local(weight.detach()).float() for weight in self._weights]
        averages = [local(average) for average in self._averages]
        torch._foreach_lerp_(averages, weights, 1 - decay)  # pyright: ignore[reportPrivateImportUsage]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The averages stand where the weights do, which come back exactly as they were."""
        weights = [local(weight.detach()) for weight in self._weights]
        held = [weight.clone() for weight in weights]
        averages = [local(average) for average in self._averages]
        try:
            torch._foreach_copy_(weights, averages)  # pyright: ignore[reportPrivateImportUsage]
            yield
        finally:
            torch._foreach_copy_(weights, held)  # pyright: ignore[reportPrivateImportUsage]

    def tensors(self) -> dict[str, Tensor]:
        """The averages by the names of the parameters."""
        return dict(zip(self._names, self._averages, strict=True))

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what a checkpoint kept. Raise CheckpointError where it kept others."""
        own = self.tensors()
        if set(tensors) != set(own) or any(own[name].shape != tensor.shape for name, tensor in tensors.items()):
            raise CheckpointError("The saved average is of other weights than this model has.")
        for name, tensor in tensors.items():
            put(own[name], tensor)
