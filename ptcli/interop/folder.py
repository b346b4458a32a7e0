"""A model's folder as transformers writes it: config.json, safetensors and a tokenizer. Only data is read, no code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptcli.errors import CheckpointError, ConfigError
from ptcli.interop.families import FAMILIES, family_of
from ptcli.interop.family import Family

if TYPE_CHECKING:
    from torch import Tensor

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.ckpt", "tf_model.h5")
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}  # of norms, in files that were converted from TensorFlow


@dataclass(frozen=True)
class HuggingFaceFolder:
    """A folder that was found; `config` is its config.json, completed with the family's defaults."""

    path: Path
    family: Family
    config: Mapping[str, Any]

    @property
    def overrides(self) -> list[str]:
        """What to type for its model."""
        return self.family.overrides(self.config)

    def tensors(self) -> dict[str, "Tensor"]:
        """All weights, float32, under the names of the family's full model, whichever part of it the file holds."""
        tensors: dict[str, Tensor] = {}
        for file in self._files():
            tensors |= _read(file)
        tensors = {_modern(name): tensor.float() for name, tensor in tensors.items()}
        prefix = f"{self.family.prefix}."
        if any(name.startswith(prefix) for name in tensors):
            return tensors
        return {prefix + name: tensor for name, tensor in tensors.items()}  # of the body alone

    def _files(self) -> list[Path]:
        if (self.path / WEIGHTS).is_file():
            return [self.path / WEIGHTS]
        if (self.path / INDEX).is_file():
            placed = _read_json(self.path / INDEX).get("weight_map")
            if isinstance(placed, dict):
                return [self.path / Path(str(name)).name for name in dict.fromkeys(placed.values())]
        pickled = [name for name in _PICKLED if (self.path / name).is_file()]
        told = f" {pickled[0]} is not opened: such a file can hold code." if pickled else ""
        raise CheckpointError(
            f"{self.path} holds no {WEIGHTS}.{told} Write one with transformers: "
            "AutoModelForMaskedLM.from_pretrained(...).save_pretrained(FOLDER)"
        )


def is_hugging_face(path: Path) -> bool:
    """Whether a folder looks like transformers': it has a config.json with a model_type, and is no run of ptcli's."""
    if not (path / CONFIG).is_file() or (path / "config.yaml").is_file():
        return False
    return "model_type" in _read_json(path / CONFIG)


def open_folder(path: Path) -> HuggingFaceFolder:
    """Raises CheckpointError for a family that ptcli does not read."""
    config = _read_json(path / CONFIG)
    family = family_of(str(config.get("model_type")))
    if family is None:
        known = ", ".join(family.model_type for family in FAMILIES)
        raise CheckpointError(f"{path / CONFIG} says model_type={config.get('model_type')}; ptcli reads {known}.")
    if "${" in json.dumps(config):  # its values are typed for Hydra, which would look up what is referred to
        raise CheckpointError(f"{path / CONFIG} holds a reference (${{...}}), which no file of transformers' has")
    return HuggingFaceFolder(path, family, {**family.defaults, **config})


def _read(file: Path) -> dict[str, "Tensor"]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{file} cannot be read: {error}") from error


def _modern(name: str) -> str:
    head, _, last = name.rpartition(".")
    return f"{head}.{_OLD_NAMES[last]}" if last in _OLD_NAMES and "LayerNorm" in head else name


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}
