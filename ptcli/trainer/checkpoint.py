"""Checkpoints of a run: `checkpoints/step-00000100/` holds weights, optimizer and state, whole or not at all.

A checkpoint is copied to the host; a thread writes it into a temporary folder, its hashes beside it, and renames that.
`latest` names the newest one, for people and scripts; loading looks at the folders themselves. Nothing is pickled.
"""

import copy
import json
import platform
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import ptcli
from ptcli.errors import CheckpointError, ConfigError
from ptcli.files import digest, is_disk_full, remove_temporary, remove_whole, whole_folder, write_whole
from ptcli.trainer.optimizer_state import load_state, named_state
from ptcli.trainer.sharded import whole
from ptcli.trainer.state import TrainingState
from ptcli.trainer.weights import WEIGHTS, load_weights, named_tensors, read_tensors, write_tensors

FORMAT = 1
_OPTIMIZER, _AVERAGE = "optimizer.safetensors", "average.safetensors"
_STATE, _MANIFEST = "state.json", "manifest.json"
_NAME = re.compile(r"step-(\d{8,})")


def versions() -> dict[str, str]:
    """What the run was made with."""
    return {"ptcli": ptcli.__version__, "torch": torch.__version__, "python": platform.python_version()}


@dataclass(frozen=True)
class Snapshot:
    """All that a checkpoint holds, in memory of its own: training goes on while it is written."""

    weights: dict[str, Tensor]
    ties: dict[str, str]
    optimizer: dict[str, Tensor]
    settings: dict[str, Any]  # the optimizer's plain values
    state: TrainingState
    average: dict[str, Tensor] | None = None


def snapshot(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: TrainingState,
    average: dict[str, Tensor] | None = None,
) -> Snapshot:
    """Copy to the host what a checkpoint holds. Every rank must call it: parts that are sharded are gathered."""
    weights, ties = named_tensors(module)
    tensors, settings = named_state(optimizer, module)
    return Snapshot(
        weights=_copied(weights),
        ties=ties,
        optimizer=_copied(tensors),
        settings=settings,
        state=copy.deepcopy(state),
        average=None if average is None else _copied(average),
    )


class Checkpoints:
    """The checkpoints in one folder. The newest `keep` (at least 1) and the best one stay, others are removed."""

    def __init__(self, folder: Path, *, keep: int = 2):
        if keep < 1:
            raise ConfigError(f"save.keep={keep}: at least 1 checkpoint is kept.")
        self.folder = folder
        self._keep = keep
        self._writing: threading.Thread | None = None
        self._failure: Exception | None = None

    def steps(self) -> list[int]:
        """Steps of all checkpoints, ascending."""
        if not self.folder.is_dir():
            return []
        matches = (_NAME.fullmatch(path.name) for path in self.folder.iterdir() if path.is_dir())
        return sorted(int(match[1]) for match in matches if match)

    def path(self, step: int) -> Path:
        """The folder of one."""
        return self.folder / f"step-{step:08d}"

    def save(self, taken: Snapshot, *, first: Callable[[], None] | None = None) -> None:
        """Write one in a thread, when the one before is written. `first` is done there before.

        An error of the thread is raised by the next `save`, by `raise_failed` and by `finish`, which ends the writing.
        """
        self.finish()

        def work() -> None:
            try:
                if first is not None:
                    first()
                self.write(taken)
            except Exception as error:
                self._failure = error

        self._writing = threading.Thread(target=work, name="checkpoint", daemon=True)
        self._writing.start()

    def raise_failed(self) -> None:
        """Raise the error of a writing that has ended with one."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def finish(self) -> None:
        """Wait until what is being written is there, and raise its error."""
        if self._writing is not None:
            self._writing.join()
            self._writing = None
        self.raise_failed()

    def write(self, taken: Snapshot) -> Path:
        """Write one, and remove those not kept. One that is there already is left as it is.

        Raise CheckpointError where the disk is full; the earlier checkpoints are untouched then.
        """
        path = self.path(taken.state.step)
        if path.exists():
            return path
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with whole_folder(path) as temporary:
                write_tensors(taken.weights, taken.ties, temporary / WEIGHTS)
                write_tensors(taken.optimizer, {}, temporary / _OPTIMIZER)
                if taken.average is not None:
                    write_tensors(taken.average, {}, temporary / _AVERAGE)
                values = {"state": taken.state.to_dict(), "optimizer": taken.settings, "versions": versions()}
                (temporary / _STATE).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
                files = {file.name: digest(file) for file in sorted(temporary.iterdir())}
                (temporary / _MANIFEST).write_text(json.dumps({"format": FORMAT, "files": files}), encoding="utf-8")
            write_whole(self.folder / "latest", f"{path.name}\n")
        except Exception as error:
            if not is_disk_full(error):
                raise
            kept = ", ".join(self.path(step).name for step in self.steps()) or "none yet"
            raise CheckpointError(
                f"The disk is full: the checkpoint of step {taken.state.step} could not be written to {self.folder}. "
                f"Earlier ones are whole ({kept}). Make room and type the same command again."
            ) from error
        self._prune(taken.state.best_step)
        return path

    def _prune(self, best_step: int | None) -> None:
        # called when the newest has just been written: the last whole one is never among those removed
        for step in self.steps()[: -self._keep]:
            if step != best_step:
                remove_whole(self.path(step))

    def newest(self, *, say: Callable[[str], None]) -> Path | None:
        """The newest whole one; None where there is none at all. A damaged one is put aside, and `say` told.

        Raise CheckpointError where all are damaged: a run never begins again unasked.
        """
        if not self.folder.is_dir():
            return None
        remove_temporary(self.folder)
        for step in reversed(self.steps()):
            path = self.path(step)
            damage = _damage(path)
            if damage is None:
                return path
            aside = self.folder / f"damaged-{path.name}"
            if aside.exists():
                remove_whole(aside)
            path.rename(aside)
            say(
                f"the checkpoint {path.name} is damaged ({damage}); it is put aside as {aside.name}, "
                "and the one before is tried"
            )
        if damaged := sorted(path.name for path in self.folder.glob("damaged-*")):
            raise CheckpointError(
                f"All checkpoints in {self.folder} are damaged ({', '.join(damaged)}). "
                "Type resume=never to begin again at step 0."
            )
        return None

    def state(self, path: Path) -> TrainingState:
        """The training state of a whole checkpoint."""
        return TrainingState.from_dict(_values(path)["state"])

    def load(self, path: Path, module: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Load weights and optimizer. Raise CheckpointError where they do not fit."""
        load_weights(module, path / WEIGHTS)
        load_state(optimizer, module, read_tensors(path / _OPTIMIZER)[0], _values(path)["optimizer"])

    def average(self, path: Path) -> dict[str, Tensor]:
        """The averaged weights of a whole checkpoint. Raise CheckpointError where it has none."""
        return read_tensors(path / _AVERAGE)[0]


def _copied(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    wholes = ((name, whole(tensor.detach())) for name, tensor in tensors.items())
    return {name: torch.empty_like(tensor, device="cpu").copy_(tensor) for name, tensor in wholes}


def _values(path: Path) -> dict[str, Any]:
    return json.loads((path / _STATE).read_text(encoding="utf-8"))


def _damage(path: Path) -> str | None:
    """What is wrong with a checkpoint; None when it is whole."""
    try:
        manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise CheckpointError(f"{path} was written by another version of ptcli (format {manifest['format']}).")
        for name in {WEIGHTS, _OPTIMIZER, _STATE, *manifest["files"]}:
            if (path / name).stat().st_size != manifest["files"][name]["bytes"]:
                return f"{name} is cut short"
            if digest(path / name) != manifest["files"][name]:
                return f"{name} does not match its hash"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None
