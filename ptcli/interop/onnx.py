"""ONNX: writing a model, and running it beside torch to see that it is the same."""

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from ptcli.errors import CheckpointError, ConfigError
from ptcli.interop.module import PlainModel
from ptcli.interop.rows import random_rows, relative_error

FILE = "model.onnx"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_INLINE_BYTES = 1_500_000_000  # above, weights lie in a file of their own: protobuf ends at 2 GB
_SHAPES = ((3, 24), (1, 9), (2, 17))  # rows and length of what is compared; the first is what is traced


@dataclass(frozen=True)
class Compared:
    """Largest error, as a share of the largest value, and real tokens a second of each."""

    error: float
    onnxruntime_speed: float
    torch_speed: float


class _HiddenStates(nn.Module):
    def __init__(self, plain: PlainModel):
        super().__init__()
        self.plain = plain

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        return self.plain.hidden_states(input_ids, attention_mask, token_type_ids)


def check_installed() -> None:
    """Raise ConfigError where the packages are missing."""
    import importlib.util

    missing = [name for name in ("onnx", "onnxruntime", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"format=onnx needs {', '.join(missing)}: pip install 'ptcli[onnx]'")


def write(folder: Path, plain: PlainModel, *, head: bool, max_length: int) -> Path:
    """Write model.onnx: INPUTS to `logits`, or to `last_hidden_state` without `head`; any batch, any length.

    `max_length`: the longest row. Raises CheckpointError, with the reason, for what ONNX or its exporter cannot hold.
    """
    module = plain if head else _HiddenStates(plain)
    file = folder / FILE
    rows, length = _SHAPES[0]
    example = _inputs(plain, rows, min(length, max_length))
    size = sum(p.numel() * p.element_size() for p in plain.parameters())
    axes = {0: torch.export.Dim("batch", min=1), 1: torch.export.Dim("length", min=2, max=max_length)}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it tells of packages that nobody asked for
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module.eval(),
                tuple(example.values()),
                str(file),
                input_names=list(INPUTS),
                output_names=["logits" if head else "last_hidden_state"],
                dynamic_shapes=dict.fromkeys(INPUTS, axes),
                dynamo=True,
                external_data=size > _INLINE_BYTES,
                verbose=False,
            )
    except Exception as error:  # torch.onnx raises whatever its passes do
        raise CheckpointError(f"this model cannot be exported to ONNX: {_reason(error)}") from error
    return file


def compare(file: Path, plain: PlainModel, *, head: bool, max_length: int) -> Compared:
    """Run the file and the model on padded rows of several shapes, none of them but the first the traced one."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def theirs(inputs: dict[str, Tensor]) -> Tensor:
        return torch.from_numpy(session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()})[0])

    def ours(inputs: dict[str, Tensor]) -> Tensor:
        with torch.inference_mode():
            return plain(**inputs) if head else plain.hidden_states(**inputs)

    error = 0.0
    for rows, length in _SHAPES:
        inputs = _inputs(plain, rows, min(length, max_length))
        real = inputs["attention_mask"].bool()
        found, wanted = theirs(inputs), ours(inputs)
        if found.ndim == 3:  # padding is of no matter
            found, wanted = found[real], wanted[real]
        error = max(error, relative_error(found, wanted))
    timed = _inputs(plain, 8, max_length)
    return Compared(error, _speed(theirs, timed), _speed(ours, timed))


def _inputs(plain: PlainModel, rows: int, length: int) -> dict[str, Tensor]:
    return random_rows(rows, length, vocab_size=plain.vocab_size, num_types=plain.num_types)


def _speed(run: Callable[[dict[str, Tensor]], Tensor], inputs: dict[str, Tensor], seconds: float = 0.5) -> float:
    run(inputs)
    began, times = time.perf_counter(), 0
    while times < 2 or time.perf_counter() - began < seconds:
        run(inputs)
        times += 1
    return int(inputs["attention_mask"].sum()) * times / (time.perf_counter() - began)


def _reason(error: BaseException) -> str:
    """The innermost cause, one line: the outer ones tell of the exporter's passes."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip()[:300]}" if lines else type(error).__name__
