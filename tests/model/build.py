"""Small models and batches for the tests of models and objectives; weights copied to and from transformers."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from torch import nn

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.model.attention.full import FullAttention
from ptcli.model.encoder import Encoder
from ptcli.model.ffn.gelu import GeluFeedForward
from ptcli.model.norm.layernorm import LayerNorm
from ptcli.model.position.learned import LearnedPositions
from ptcli.model.residual.post import PostNorm
from ptcli.model.sharing.none import NoSharing

CONF = Path(__file__).parents[2] / "conf"
NO_PAIR = SimpleNamespace(num_labels=0)
PAIR = SimpleNamespace(num_labels=2)


def encoder(**changes) -> Encoder:
    """A small BERT, seeded; `changes` are constructor arguments. Weights are large enough for errors to show."""
    torch.manual_seed(changes.pop("seed", 0))
    arguments = {
        "vocab_size": 61,
        "num_layers": 2,
        "hidden_size": 32,
        "num_heads": 4,
        "intermediate_size": 48,
        "position": {"learned": partial(LearnedPositions, max_positions=40)},
        "attention": FullAttention,
        "ffn": GeluFeedForward,
        "norm": LayerNorm,
        "residual": PostNorm,
        "sharing": NoSharing(),
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "initializer_range": 0.2,
    }
    return Encoder(**(arguments | changes))


def rows(examples: list[list[list[int]]], *, length: int | None = None, types: bool = True) -> dict[str, torch.Tensor]:
    """A batch of rows of examples of token ids, padded to `length`, without labels."""
    length = length or max(sum(map(len, row)) for row in examples)
    batch = {
        key: torch.zeros(len(examples), length, dtype=torch.int64)
        for key in ("input_ids", "token_type_ids", "position_ids", "sequence_ids")
    }
    for r, row in enumerate(examples):
        at = 0
        for e, example in enumerate(row):
            stretch = slice(at, at + len(example))
            batch["input_ids"][r, stretch] = torch.tensor(example)
            batch["position_ids"][r, stretch] = torch.arange(len(example))
            batch["sequence_ids"][r, stretch] = e + 1
            if types:
                batch["token_type_ids"][r, at + len(example) // 2 : at + len(example)] = 1
            at += len(example)
    batch["attention_mask"] = (batch["sequence_ids"] > 0).long()
    return batch


def scored(batch: dict[str, torch.Tensor], *, every: int = 4) -> dict[str, torch.Tensor]:
    """The batch with every so-many-th real position scored, and a pair label at each example's first position."""
    real = batch["attention_mask"].bool()
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(1, 61, real.shape, generator=generator)
    chosen = real & (torch.arange(real.numel()).view_as(real) % every == 1)
    batch["labels"] = labels.masked_fill(~chosen, IGNORE_INDEX)
    first = real & (batch["position_ids"] == 0)
    batch["pair_labels"] = (labels % 2).masked_fill(~first, IGNORE_INDEX)
    batch["label_positions"] = (batch["labels"] != IGNORE_INDEX).flatten().nonzero().flatten()
    batch["pair_positions"] = (batch["pair_labels"] != IGNORE_INDEX).flatten().nonzero().flatten()
    return batch


def random_rows(
    lengths: list[list[int]], *, seed: int = 0, vocab_size: int = 61, **arguments
) -> dict[str, torch.Tensor]:
    """`rows` of random examples of these lengths; no id is 0."""
    generator = torch.Generator().manual_seed(seed)
    return rows(
        [[torch.randint(1, vocab_size, (n,), generator=generator).tolist() for n in row] for row in lengths],
        **arguments,
    )


class Together(nn.Module):
    """Model and objective under one root, so that parameters have one set of names."""

    def __init__(self, model: Encoder, objective: nn.Module):
        super().__init__()
        self.model, self.objective = model, objective

    def forward(self, batch):
        return self.objective(self.model, batch)


def compose_model(folder: Path, *overrides: str) -> DictConfig:
    """The composed `model` and `objective` nodes, from a root file that holds no other group."""
    (folder / "root.yaml").write_text(
        f"defaults:\n  - objective: masked_lm\n  - model: bert\n  - _self_\nhydra:\n  searchpath: ['file://{CONF}']\n"
    )
    with initialize_config_dir(config_dir=str(folder), version_base="1.3"):
        return compose("root", overrides=list(overrides))
