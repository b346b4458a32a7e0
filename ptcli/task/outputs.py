"""What a model says of encoded rows, brought from the order of batches into the order of `Encoded`."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor, nn

from ptcli.task.encoded import Encoded
from ptcli.task.places import Places


def outputs_of(
    step: nn.Module,
    batches: Iterable[Mapping[str, Tensor]],
    encoded: Encoded,
    *,
    target: str,
    device: torch.device,
    autocast: Callable[[], AbstractContextManager],
) -> dict[str, np.ndarray]:
    """float32 arrays by name, as `predict` of the step's objective calls them, each once for all of `encoded`.

    By the task's `target`: of tokens along `token_positions`, of spans along `tokens`, else an entry for each example,
    or, where two texts are encoded apart, for each pair of them. `batches` hold every example once. The step is in
    training mode again afterwards if it was before.
    """
    gathered: dict[str, np.ndarray] = {}
    was_training = step.training
    step.eval()
    try:
        with torch.inference_mode(), autocast():
            for batch in batches:
                batch = {name: tensor.to(device) for name, tensor in batch.items()}
                found = step.objective.predict(step.model, batch)  # type: ignore[union-attr, operator]
                for name, tensor in found.items():
                    if target == "span" and tensor.shape[0] != batch["input_ids"].numel():
                        continue  # where examples lie in the batch: known here
                    places, size = _places(tensor.shape[0], batch, encoded, target)
                    values = tensor.float().cpu().numpy()
                    if name not in gathered:
                        gathered[name] = np.full((size, *values.shape[1:]), np.nan, np.float32)
                    known = places >= 0
                    gathered[name][places[known]] = values[known]
    finally:
        step.train(was_training)
    return gathered


def _places(length: int, batch: Mapping[str, Tensor], encoded: Encoded, target: str) -> tuple[np.ndarray, int]:
    """Where `length` values of a batch belong, -1 for nowhere, and how many such places there are."""
    if target == "span":
        return _tokens(np.arange(length), batch, encoded), len(encoded.tokens)
    if target == "tokens":
        positions = encoded.token_positions
        assert positions is not None
        tokens = _tokens(batch["token_positions"].cpu().numpy(), batch, encoded)
        return np.searchsorted(positions, tokens), len(positions)
    numbers = batch["example_numbers"].cpu().numpy()
    if length == len(numbers):
        return numbers, encoded.num_examples
    assert 2 * length == len(numbers), "one for each pair of examples"
    return encoded.row_of_example[numbers[::2]], encoded.num_examples // 2


def _tokens(places: np.ndarray, batch: Mapping[str, Tensor], encoded: Encoded) -> np.ndarray:
    """The index into `encoded.tokens` of flat places of a batch; -1 where no example lies."""
    owner = Places(batch).owner.cpu().numpy()[places]
    numbers = np.append(batch["example_numbers"].cpu().numpy(), 0)
    inside = batch["position_ids"].cpu().numpy().reshape(-1)[places]
    return np.where(owner < len(numbers) - 1, encoded.offsets[numbers[owner]] + inside, -1)
