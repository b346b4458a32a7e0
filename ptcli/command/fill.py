"""`ptcli fill`: what a model puts in the place of each [MASK]."""

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig

from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.phases import longest_row
from ptcli.config.root import Device, Root
from ptcli.errors import CheckpointError, ConfigError

if TYPE_CHECKING:
    import numpy as np

    from ptcli.run.load import Model


@dataclass
class FillRoot(Root):
    """Types of conf/fill.yaml."""

    checkpoint: str | None = None
    text: str | None = None
    top: int = MISSING
    trainer: Device = field(default_factory=Device)


COMMAND = Command(
    __name__,
    "let a model fill in the [MASK]s of a sentence",
    root=FillRoot,
    needs={"checkpoint": "checkpoint=RUN"},
    words="the sentence",
    examples=('ptcli fill checkpoint=runs/NAME "Paris is the [MASK] of France."',),
)

_PLACEHOLDER = "[MASK]"  # what people type, whatever the tokenizer calls it


def run(config: DictConfig, context: Context) -> None:
    """Print the best guesses for every masked place of every sentence."""
    from rich.console import Console

    from ptcli.run.load import load_any

    sentences = [*([config.text] if config.text else []), *context.words]
    if not sentences:
        raise ConfigError('no sentence: ptcli fill checkpoint=RUN "Paris is the [MASK] of France."')
    saved = load_any(config.checkpoint, plugins=tuple(config.plugins))
    if saved.missing:
        raise CheckpointError(f"{saved.folder} has no masked-LM head (it lacks {saved.missing[0]}): it cannot fill.")
    for remark in saved.remarks:
        print(remark, file=sys.stderr)
    console = Console(soft_wrap=False, highlight=False)
    for sentence in sentences:
        _print(console, saved, guess(saved, sentence, top=config.top, device=config.trainer.device))


def guess(saved: "Model", sentence: str, *, top: int, device: str) -> tuple[str, list[list[tuple[str, float]]]]:
    """The sentence with its masks filled in, and for each mask the `top` (text, probability), best first."""
    import torch

    from ptcli.batch.tensors import to_tensors
    from ptcli.tokenizer.token_texts import TokenTexts
    from ptcli.trainer.device import choose_device

    arrays = _one_row(saved, sentence)
    where = choose_device(device)
    saved.step.to(where)
    batch = {name: tensor.to(where) for name, tensor in to_tensors(arrays).items()}
    with torch.inference_mode():
        logits = saved.step.objective.predict(saved.step.model, batch).float()
        special = torch.tensor(saved.tokenizer.vocabulary.special, device=where)
        logits = logits.masked_fill(special, -torch.inf)  # never a guess
        probabilities, ids = logits.softmax(-1).topk(min(top, int((~special).sum())))
    texts = TokenTexts(saved.tokenizer)
    guesses = [
        [
            (_shown(saved.tokenizer.token(int(i)), texts.text(int(i))), float(p))
            for i, p in zip(row_ids, row, strict=True)
        ]
        for row_ids, row in zip(ids, probabilities, strict=True)
    ]
    filled = arrays["input_ids"][0].copy()
    filled[arrays["label_positions"]] = ids[:, 0].cpu().numpy()
    layout = saved.tokenizer.vocabulary.layout
    return saved.tokenizer.decode(filled[len(layout.prefix) : len(filled) - len(layout.suffix)]), guesses


def _shown(token: str, text: str) -> str:
    """What a guess is called: its text, but "##ly" where it goes on with the word before, which is another guess."""
    return token if token.startswith("##") else text


def _one_row(saved: "Model", sentence: str) -> "dict[str, np.ndarray]":
    import numpy as np

    from ptcli.tokenizer.families import holds_space

    vocabulary = saved.tokenizer.vocabulary
    assert vocabulary.mask_token_id is not None
    typed = f" {_PLACEHOLDER}" if holds_space(saved.tokenizer.inner) else _PLACEHOLDER  # a mask holds it as a word does
    mask = saved.tokenizer.token(vocabulary.mask_token_id)
    text = sentence.replace(typed, mask).replace(_PLACEHOLDER, mask)
    ids = saved.tokenizer.encode([text])[0][0]
    masked = np.flatnonzero(ids == vocabulary.mask_token_id)
    if not masked.size:
        raise ConfigError(f"there is no {_PLACEHOLDER} in {sentence!r}: put one where a word is to be guessed")
    row = np.concatenate([vocabulary.layout.prefix, ids, vocabulary.layout.suffix]).astype(np.int64)[None]
    longest = longest_row(saved.config)
    if row.shape[1] > longest:
        raise ConfigError(
            f"the sentence has {row.shape[1]} tokens with the special ones, the model was trained on at most {longest}"
        )
    ones = np.ones_like(row)
    return {
        "input_ids": row,
        "attention_mask": ones,
        "token_type_ids": np.zeros_like(row),
        "position_ids": np.arange(row.shape[1])[None],
        "sequence_ids": ones,
        "label_positions": masked + len(vocabulary.layout.prefix),
    }


def _print(console: Any, saved: "Model", result: tuple[str, list[list[tuple[str, float]]]]) -> None:
    from rich.table import Table
    from rich.text import Text

    filled, guesses = result
    console.print(Text(filled, style="bold"))
    table = Table.grid(padding=(0, 2))
    for number, row in enumerate(guesses, start=1):
        name = f"  mask {number}" if len(guesses) > 1 else "  guesses"
        table.add_row(name, Text("  ".join(f"{token} {probability:.0%}" for token, probability in row)))
    console.print(table)
