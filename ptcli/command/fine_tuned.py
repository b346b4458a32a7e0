"""Models that were fine-tuned, and what fine-tuning starts from."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from torch import nn

from ptcli.command.assemble import part
from ptcli.command.checkpoint import LABELS, Saved, find_model, is_fine_tuned, load_any
from ptcli.config.bind import plain_values
from ptcli.config.identity import read, resolve
from ptcli.config.phases import longest_row
from ptcli.errors import CheckpointError, ConfigError
from ptcli.model.heads import Pooler
from ptcli.task.objective import TaskObjective
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.seeds import seed_everything
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


def load_base(checkpoint: str, *, plugins: tuple[str, ...], random_weights: bool, seed: int) -> Base:
    """Read a run's model, a fine-tuned one's, or one of transformers'. `random_weights`: its shape alone."""
    if is_fine_tuned(checkpoint):
        found: Any = load_fine_tuned(checkpoint, plugins=plugins)
        longest, segments = found.config.longest, found.config.segments
    else:
        found = load_any(checkpoint, plugins=plugins)
        longest = longest_row(found.config)
        segments = getattr(part(found.config, "pair"), "segments", 1) if isinstance(found, Saved) else 2
    model, pooler = found.step.model, found.pooler

    def fresh() -> nn.Module:
        return part(found.config, "model", vocab_size=found.tokenizer.vocabulary.size)

    if random_weights:
        seed_everything(seed)
        model, pooler = fresh(), None
    return Base(
        folder=found.folder,
        settings=plain_values(found.config)["model"],
        tokenizer=found.tokenizer,
        model=model,
        pooler=pooler,
        longest=longest,
        segments=segments,
        fresh=fresh,
        remarks=found.remarks,
    )


def load_fine_tuned(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> FineTuned:
    """Read a run of ptcli finetune. Its configuration is data: only classes of ptcli and of `plugins` are built."""
    folder = find_model(checkpoint)
    if not (folder / LABELS).is_file():
        raise ConfigError(
            f"checkpoint={checkpoint} was not fine-tuned, so it has no answers. Train it on a task first: "
            f"ptcli finetune checkpoint={checkpoint} task=..."
        )
    config, remarks = read(folder / "config.yaml")
    config.plugins = list(plugins)
    tokenizer = Tokenizer.load(folder / "tokenizer")
    try:
        labels = tuple(json.loads((folder / LABELS).read_text(encoding="utf-8"))["labels"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / LABELS} cannot be read: {error!r}") from error
    task = part(config, "task")
    step = task_step(task, part(config, "model", vocab_size=tokenizer.vocabulary.size), num_labels=len(labels))
    load_weights(step, folder)
    step.eval()
    return FineTuned(folder, config, tokenizer, task, labels, step, remarks)


def task_step(task: Any, model: Any, *, num_labels: int) -> TrainingStep:
    """The trained whole: a model, and the objective that a task makes of it."""
    settings = {key: value for key, value in task.on_model.items() if key not in INITIALISING}
    objective = TaskObjective(model=model, target=task.target, apart=task.apart, num_labels=num_labels, **settings)
    return TrainingStep(model, objective)


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
    longest = max(base.longest, config.max_length)
    segments = max(base.segments, 1 if task.num_texts == 1 else 2)
    content = {"labels": list(labels), "names": list(task.names_of(labels)), "best": best}
    with tempfile.TemporaryDirectory() as tokenizer:
        base.tokenizer.save(Path(tokenizer))
        save_model(
            folder,
            step,
            config={**resolve(config), "model": base.settings, "longest": longest, "segments": segments},
            tokenizer_folder=Path(tokenizer),
            texts={LABELS: json.dumps(content, ensure_ascii=False, indent=2) + "\n"},
        )


def best_of(folder: Path) -> dict[str, float]:
    """The metrics that `save_fine_tuned` was told of the model in a folder; empty where there is none."""
    try:
        return json.loads((folder / LABELS).read_text(encoding="utf-8"))["best"]
    except (OSError, ValueError, KeyError):
        return {}
