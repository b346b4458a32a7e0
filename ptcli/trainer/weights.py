"""Weights as safetensors, under the names of the unwrapped module; what is tied or shared is saved once."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor, nn

from ptcli.errors import CheckpointError
from ptcli.files import whole_folder
from ptcli.trainer.sharded import put

WEIGHTS = "model.safetensors"


def named_tensors(module: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All parameters and saved buffers, each once, and the ties: {another name: the name it is saved under}."""
    tensors: dict[str, Tensor] = {}
    ties: dict[str, str] = {}
    first_names: dict[int, str] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) in first_names:
            ties[name] = first_names[id(tensor)]
        else:
            first_names[id(tensor)] = name
            tensors[name] = tensor
    return tensors, ties


def save_weights(module: nn.Module, path: Path) -> None:
    """Write the weights of `module` to a safetensors file; its metadata holds the ties."""
    write_tensors(*named_tensors(module), path)


def write_tensors(tensors: dict[str, Tensor], ties: dict[str, str], path: Path) -> None:
    """Write what `named_tensors` gave, or copies of it."""
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # safetensors writes several entries in a random order: one alone keeps equal weights equal files
    save_file(plain, path, metadata={"format": "pt"} | ({"ties": json.dumps(ties)} if ties else {}))


def load_weights(module: nn.Module, path: Path) -> None:
    """Load a file of `save_weights`, or the `model/` folder that holds one, into `module`.

    Raise CheckpointError where names or shapes differ: nothing is left as it was initialised, nothing is ignored.
    """
    path = path / WEIGHTS if path.is_dir() else path
    saved, saved_ties = read_tensors(path)
    tensors, ties = named_tensors(module)
    everything = saved | {name: saved[first] for name, first in saved_ties.items()}
    names = set(tensors) | set(ties)
    missing, unexpected = sorted(names - set(everything)), sorted(set(everything) - names)
    if missing or unexpected:
        raise CheckpointError(
            f"{path} does not fit this model."
            + (f" It lacks {_some(missing)}." if missing else "")
            + (f" It holds {_some(unexpected)}, which the model has no place for." if unexpected else "")
            + " Use the configuration that it was trained with."
        )
    for name, first in ties.items():
        if not torch.equal(everything[name], everything[first]):
            raise CheckpointError(f"{path}: {name} and {first} are one tensor in this model, but differ in the file.")
    for name, tensor in tensors.items():
        if tensor.shape != everything[name].shape:
            raise CheckpointError(
                f"{path}: {name} has the shape {tuple(everything[name].shape)}, but {tuple(tensor.shape)} is needed."
            )
    for name, tensor in tensors.items():
        put(tensor, everything[name])


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file and its ties. Raise CheckpointError where it is absent or damaged."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"{path} does not exist.")
    try:
        with safe_open(path, framework="pt") as file:
            ties = json.loads((file.metadata() or {}).get("ties", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, ties  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error


def save_model(
    folder: Path,
    module: nn.Module,
    *,
    config: dict[str, Any],
    tokenizer_folder: Path,
    arrays: dict[str, np.ndarray] | None = None,
    texts: dict[str, str] | None = None,
) -> None:
    """Write all that another person needs: `model.safetensors`, `config.yaml` and `tokenizer/`, whole or not at all.

    `arrays`: further files, `<name>.npy` each; `texts`: further ones by their whole names.
    """
    with whole_folder(folder) as temporary:
        save_weights(module, temporary / WEIGHTS)
        text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
        (temporary / "config.yaml").write_text(text, encoding="utf-8")
        shutil.copytree(tokenizer_folder, temporary / "tokenizer")
        for name, array in (arrays or {}).items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        for name, text in (texts or {}).items():
            (temporary / name).write_text(text, encoding="utf-8")


def _some(names: list[str], limit: int = 8) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
