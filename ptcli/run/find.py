"""Finding models that exist already: what a run left behind, or a folder of transformers'."""

from pathlib import Path
from typing import TYPE_CHECKING

from ptcli.errors import ConfigError
from ptcli.interop.folder import HuggingFaceFolder, is_hugging_face, open_folder
from ptcli.interop.hub import download, looks_like_a_name
from ptcli.trainer.weights import WEIGHTS

if TYPE_CHECKING:
    pass


LABELS = "labels.json"
"""What a fine-tuned model's folder has beside the files of every model."""


def find_folder(checkpoint: str) -> Path:
    """The folder that `checkpoint` names: one of this machine, or of the hub's cache, where it is fetched to.

    ConfigError where there is none.
    """
    path = Path(checkpoint).expanduser()
    if path.exists():
        return path
    if looks_like_a_name(checkpoint):
        return download(checkpoint)
    near = sorted(p.name for p in path.parent.iterdir() if p.is_dir()) if path.parent.is_dir() else []
    held = f" {path.parent} holds {', '.join(near[:8])}{', ...' if len(near) > 8 else ''}." if near else ""
    raise ConfigError(f"checkpoint={checkpoint}: there is no such folder.{held}")


def find_model(checkpoint: str) -> Path:
    """The folder with a run's model: its `model/`, or `checkpoint` itself. ConfigError where there is none."""
    path = find_folder(checkpoint)
    for folder in (path / "model", path):
        if (folder / WEIGHTS).is_file() and (folder / "config.yaml").is_file():
            return folder
    if (path / "checkpoints").is_dir():
        raise ConfigError(
            f"checkpoint={checkpoint}: this run has not ended yet, so there is no {path / 'model'}. "
            "Let it go on, or end it with Ctrl-C, which writes its model."
        )
    if is_hugging_face(path):
        raise ConfigError(
            f"checkpoint={checkpoint} is a model of transformers', which does not hold what this command needs of the "
            "text that it was trained on. Train it on: ptcli pretrain checkpoint=..., and give that run."
        )
    if inside := sorted(str(folder.parent.parent) for folder in path.glob(f"*/model/{WEIGHTS}")):
        raise ConfigError(
            f"checkpoint={checkpoint} holds {len(inside)} runs, of which this command takes one: "
            + ", ".join(f"checkpoint={each}" for each in inside[:5])
        )
    raise ConfigError(f"checkpoint={checkpoint}: no run folder (no model/{WEIGHTS}), and none of transformers'.")


def find_hugging_face(checkpoint: str) -> HuggingFaceFolder | None:
    """The folder of transformers' that `checkpoint` names; None where it is a run's."""
    path = find_folder(checkpoint)
    return open_folder(path) if is_hugging_face(path) else None


def is_fine_tuned(checkpoint: str) -> bool:
    """Whether `checkpoint` names a run of ptcli finetune. ConfigError where it names nothing."""
    return find_hugging_face(checkpoint) is None and (find_model(checkpoint) / LABELS).is_file()
