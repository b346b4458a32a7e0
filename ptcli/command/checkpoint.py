"""Finding and loading what a run left behind: for evaluate, fill, and for training that starts from it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig

from ptcli.config.identity import read
from ptcli.errors import CheckpointError, ConfigError
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.weights import WEIGHTS, load_weights, named_tensors, read_tensors


@dataclass(frozen=True)
class Saved:
    """A model that was read. `step` is a TrainingStep in evaluation mode; `counts` the training text's token counts."""

    folder: Path
    config: DictConfig
    tokenizer: Tokenizer
    step: Any
    counts: np.ndarray
    remarks: list[str]


def find_model(checkpoint: str) -> Path:
    """The folder with model.safetensors: a run's `model/`, or `checkpoint` itself. ConfigError where there is none."""
    path = Path(checkpoint).expanduser()
    if not path.exists():
        near = sorted(p.name for p in path.parent.iterdir() if p.is_dir()) if path.parent.is_dir() else []
        held = f" {path.parent} holds {', '.join(near[:8])}{', ...' if len(near) > 8 else ''}." if near else ""
        raise ConfigError(f"checkpoint={checkpoint}: there is no such folder.{held}")
    for folder in (path / "model", path):
        if (folder / WEIGHTS).is_file() and (folder / "config.yaml").is_file():
            return folder
    if (path / "checkpoints").is_dir():
        raise ConfigError(
            f"checkpoint={checkpoint}: this run has not ended yet, so there is no {path / 'model'}. "
            "Let it go on, or end it with Ctrl-C, which writes its model."
        )
    raise ConfigError(f"checkpoint={checkpoint}: no run folder (it has no model/{WEIGHTS}).")


def load(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> Saved:
    """Read a run's model. Its configuration is data: only classes of ptcli and of `plugins` are built from it."""
    from ptcli.command.assemble import make_model, part

    folder = find_model(checkpoint)
    config, remarks = read(folder / "config.yaml")
    config.plugins = list(plugins)
    tokenizer = Tokenizer.load(folder / "tokenizer")
    step = make_model(config, tokenizer.vocabulary.size, part(config, "pair"))
    load_weights(step, folder)
    step.eval()
    try:
        counts = np.load(folder / "token_counts.npy", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder / 'token_counts.npy'} cannot be read: {error}") from error
    return Saved(folder, config, tokenizer, step, counts, remarks)


def start_from(checkpoint: str, step: Any, tokenizer: Tokenizer) -> list[str]:
    """Load the weights of another run into `step`; what of it starts random, and what is not used, one line each.

    The model must fit whole; heads that the other run did not have start random. Raises CheckpointError where shapes
    or the tokenizer differ.
    """
    import torch

    folder = find_model(checkpoint)
    if Tokenizer.load(folder / "tokenizer").hash != tokenizer.hash:
        raise ConfigError(
            f"checkpoint={checkpoint} was trained with another tokenizer, so its embeddings mean other tokens. "
            f"Use its own: tokenizer=pretrained tokenizer.path={folder / 'tokenizer'}"
        )
    saved, ties = read_tensors(folder / WEIGHTS)
    saved = saved | {name: saved[first] for name, first in ties.items()}
    tensors, _ = named_tensors(step)
    misfits = [
        f"{name} {tuple(saved[name].shape) if name in saved else 'absent'} for {tuple(tensor.shape)}"
        for name, tensor in tensors.items()
        if (name.startswith("model.") and name not in saved) or (name in saved and saved[name].shape != tensor.shape)
    ]
    if misfits:
        raise CheckpointError(
            f"checkpoint={checkpoint} does not fit this model: {', '.join(misfits[:6])}. "
            f"Its own settings are in {folder / 'config.yaml'}."
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name in saved:
                tensor.copy_(saved[name])
    random, unused = sorted(set(tensors) - set(saved)), sorted(set(saved) - set(step.state_dict()))
    return [
        f"weights: {len(tensors) - len(random)} tensors from {folder}",
        *([f"starting random, since {checkpoint} has none: {', '.join(random)}"] if random else []),
        *([f"not used of {checkpoint}: {', '.join(unused)}"] if unused else []),
    ]
