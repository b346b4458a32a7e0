"""What each model is held against, and how far it is off; `make docs` writes docs/models.md.

Small random copies are compared, so that it takes minutes; the tests of ptcli.model compare more. Needs transformers,
onnx, onnxruntime and onnxscript.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ptcli.assembly.parts import part
from ptcli.config import choices
from ptcli.config.bind import plain_values
from ptcli.config.compose import compose
from ptcli.config.facts import target_of
from ptcli.errors import CheckpointError
from ptcli.export.target import Target, find_target
from ptcli.interop import onnx
from ptcli.interop.check import largest_error
from ptcli.interop.gradients import embedding_gradient_error
from ptcli.interop.huggingface import write
from ptcli.interop.module import PlainModel
from ptcli.tokenizer.known import find_known
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.step import TrainingStep

VOCAB_SIZE = 30522
"""At which parameters are counted."""

_SMALL = (
    "model.num_layers=4",
    "model.hidden_size=32",
    "model.num_heads=4",
    "model.intermediate_size=48",
    "model.initializer_range=0.2",
    "model.dropout=0",
    "model.attention_dropout=0",
)
_NARROW = "model.embedding_size=16"
_TOKENS = [
    "[UNK]",
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz",
]  # padding has id 1
_LENGTH = 32
_HEAD = (
    "| model | reference | parameters | largest error: logits | gradients | Hugging Face and back | ONNX |",
    "|---|---|---:|---:|---:|---:|---:|",
)
_INTRODUCTION = """# Models

What each `model=` is held against. `make docs` writes this page:
it makes a small random copy of each model (4 layers of 32, float32, padded rows), exports it, loads it with
transformers and with onnxruntime, and compares. Errors are shares of the largest value. Parameters are those of the
preset's own size with its masked-LM head at a vocabulary of 30,522. Where no class of transformers 5 holds a model, the
tests hold it against numbers of an older version, or against its paper written down (its parts), and `ptcli export`
writes `model_type: ptcli_encoder`. A reference without a head (`DebertaModel`) holds the encoder alone: DeBERTa's mask
decoder is in no class. BERT with rotary places (`model/position=rotary`) is exported as RoFormer.
"""
_ELSEWHERE = {"nezha": "NezhaForPreTraining of 4.57"}  # tests/model/test_nezha.py


@dataclass(frozen=True)
class Row:
    """One model. What is fixed for a version of ptcli comes first; errors differ a little from machine to machine."""

    model: str
    reference: str
    parameters: int

    def fixed(self) -> str:
        """The columns that a test can compare."""
        return f"| {self.model} | {self.reference} | {self.parameters:,} |"


def fixed_rows() -> list[Row]:
    """All models, without comparing anything."""
    return [_row(name, _target(_settings(name))[0]) for name in _names()]


def page(tokenizer: Tokenizer) -> str:
    """docs/models.md."""
    lines = [_INTRODUCTION, *_HEAD]
    for name in _names():
        settings = _settings(name)
        target, _ = _target(settings)
        lines.append(f"{_row(name, target).fixed()} {' | '.join(_errors(settings, target, tokenizer))} |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    """Those that the masked-LM objective trains; a demonstration is no model of its own."""
    return [choice.name for choice in choices.choices("model") if choice.name != "demo" and target_of(choice)]


def _settings(name: str) -> Any:
    small = [*_SMALL, *([_NARROW] if name == "albert" else [])]
    return compose("pretrain", [f"model={name}", *small]).config


def _target(config: Any) -> tuple[Target | None, list[str]]:
    return find_target(plain_values(config), pad_token_id=1)


def _row(name: str, target: Target | None) -> Row:
    config = compose("pretrain", [f"model={name}"]).config
    with torch.device("meta"):
        step = _step(config, VOCAB_SIZE)
    reference = _ELSEWHERE.get(name, "its parts") if target is None else target.architecture
    return Row(name, reference, sum(parameter.numel() for parameter in step.parameters()))


def _step(config: Any, vocab_size: int) -> TrainingStep:
    model = part(config, "model", vocab_size=vocab_size)
    return TrainingStep(model, part(config, "objective", model=model, pair=part(config, "pair")))


def _errors(config: Any, target: Target | None, tokenizer: Tokenizer) -> list[str]:
    torch.manual_seed(0)
    step = _step(config, tokenizer.vocabulary.size).eval()
    plain = PlainModel(step.model, step.objective)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logits = gradients = "-"
        back = "own format"
        if target is not None:
            _write(folder, step, target, tokenizer)
            error = largest_error(folder, plain, head=target.head, max_length=_LENGTH, pad_token_id=1)
            logits = f"{error:.0e}"
            gradients = f"{embedding_gradient_error(folder, plain, pad_token_id=1):.0e}" if target.head else "-"
            back = "same" if error < 1e-5 else "differs"
        return [logits, gradients, back, _onnx(folder, plain)]


def _write(folder: Path, step: TrainingStep, target: Target, tokenizer: Tokenizer) -> None:
    write(
        folder,
        step,
        family=target.family,
        numbers=target.numbers,
        tokenizer=tokenizer,
        max_length=_LENGTH,
        with_head=target.head,
        tied=target.tied,
    )


def _onnx(folder: Path, plain: PlainModel) -> str:
    try:
        file = onnx.write(folder, plain, head=True, max_length=_LENGTH)
    except CheckpointError as error:
        return str(error).replace("|", "\\|")
    return f"{onnx.compare(file, plain, head=True, max_length=_LENGTH).error:.0e}"


def main(words: list[str]) -> None:
    """Write the page to the file that is named."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "vocab.txt").write_text("\n".join(_TOKENS) + "\n", encoding="utf-8")
        tokenizer = find_known(folder, key="vocabulary").load()
    text = page(tokenizer)
    Path(words[0] if words else "docs/models.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
