"""Models that were fine-tuned, and what fine-tuning starts from."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from torch import nn

from ptcli.assembly.parts import part
from ptcli.config.identity import read, resolve
from ptcli.errors import CheckpointError, ConfigError
from ptcli.files import write_whole
from ptcli.model.heads import Pooler
from ptcli.run.find import LABELS, find_model
from ptcli.task.objective import TaskObjective
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.weights import load_weights, save_model

INITIALISING = ("reinitialise_layers", "freeze_layers", "freeze_embeddings")
"""Settings of a task that say where the model starts from; the others are the objective's."""


@dataclass(frozen=True)
class Base:
    """A model that fine-tuning starts from. `pooler`: the one that its pair head or task trained, where it had one.

    `segments`: how many it was trained to tell apart; of a model of transformers', which does not say, two.
    """

    folder: Path
    settings: dict[str, Any]  # of the model, plain
    tokenizer: Tokenizer
    model: nn.Module
    pooler: nn.Module | None
    longest: int  # tokens of the longest row that it was trained on
    segments: int
    fresh: Callable[[], nn.Module]  # the model with random weights
    source: Any  # what was read: Saved, another Model, or FineTuned, of one task or of several
    remarks: list[str]


@dataclass(frozen=True)
class FineTuned:
    """A fine-tuned model. `config`: as it was trained, with the settings of its model; `step`: in evaluation mode."""

    folder: Path
    config: DictConfig
    tokenizer: Tokenizer
    task: Any
    labels: tuple[str, ...]
    step: Any
    remarks: list[str]

    @property
    def pooler(self) -> nn.Module | None:
        """That of its objective, for another task to begin with; None where it has none."""
        return next((module for module in self.step.objective.modules() if isinstance(module, Pooler)), None)


def load_fine_tuned(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> FineTuned:
    """Read a run of ptcli finetune. Its configuration is data: only classes of ptcli and of `plugins` are built."""
    folder = find_model(checkpoint)
    if not (folder / LABELS).is_file():
        raise ConfigError(
            f"checkpoint={checkpoint} was not fine-tuned, so it has no answers. Train it on a task first: "
            f"ptcli finetune checkpoint={checkpoint} task=..."
        )
    config, remarks = read(folder / "config.yaml", plugins=plugins)
    if "members" in config.task:
        names = ", or ".join(f"checkpoint={folder.parent / name}" for name in config.task.members)
        raise ConfigError(
            f"checkpoint={checkpoint} was trained on several tasks, of which each has a model of its own. Type {names}"
        )
    config.plugins = list(plugins)
    tokenizer = Tokenizer.load(folder / "tokenizer")
    try:
        content = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        labels = tuple(content["labels"])
        settled = {name: float(value) for name, value in content.get("settled", {}).items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / LABELS} cannot be read: {error!r}") from error
    task = part(config, "task")
    task.settled = settled
    step = task_step(task, part(config, "model", vocab_size=tokenizer.vocabulary.size), num_labels=len(labels))
    load_weights(step, folder)
    step.eval()
    return FineTuned(folder, config, tokenizer, task, labels, step, remarks)


def task_step(task: Any, model: Any, *, num_labels: int) -> TrainingStep:
    """The trained whole: a model, and the objective that a task makes of it."""
    return TrainingStep(model, task_objective(task, model, num_labels=num_labels))


def task_objective(task: Any, model: Any, *, num_labels: int, name: str = "task") -> TaskObjective:
    """The objective that a task makes of a model. `name`: of its loss."""
    settings = {key: value for key, value in task.on_model.items() if key not in INITIALISING}
    return TaskObjective(
        model=model, target=task.target, apart=task.apart, num_labels=num_labels, name=name, **settings
    )


def save_fine_tuned(
    folder: Path,
    step: Any,
    *,
    config: DictConfig,
    base: Base,
    task: Any,
    labels: Sequence[str],
    best: dict[str, float],
) -> None:
    """Write the `model/` of a run: weights, configuration, tokenizer and labels. `best`: what its metrics were."""
    content = {"labels": list(labels), "names": list(task.names_of(labels)), "best": best}
    save_content(folder, step, config=config, base=base, num_texts=task.num_texts, content=content)


def save_content(
    folder: Path, step: Any, *, config: DictConfig, base: Base, num_texts: int | str, content: dict[str, Any]
) -> None:
    """The same, of one task or several. `num_texts`: as a task has it; `content`: of the labels' file."""
    longest = max(base.longest, config.max_length)
    segments = max(base.segments, 1 if num_texts == 1 else 2)
    with tempfile.TemporaryDirectory() as tokenizer:
        base.tokenizer.save(Path(tokenizer))
        save_model(
            folder,
            step,
            config={**resolve(config), "model": base.settings, "longest": longest, "segments": segments},
            tokenizer_folder=Path(tokenizer),
            texts={LABELS: json.dumps(content, ensure_ascii=False, indent=2) + "\n"},
        )


def keep_settled(folder: Path, task: Any) -> None:
    """Write down in the `model/` of a run what its task has chosen by validation rows."""
    if task.settled:
        content = json.loads((folder / LABELS).read_text(encoding="utf-8")) | {"settled": task.settled}
        write_whole(folder / LABELS, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def best_of(folder: Path) -> dict[str, float]:
    """The metrics that `save_fine_tuned` was told of the model in a folder; empty where there is none."""
    try:
        return json.loads((folder / LABELS).read_text(encoding="utf-8"))["best"]
    except (OSError, ValueError, KeyError):
        return {}
