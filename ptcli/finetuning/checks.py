"""What of a fine-tuning can be wrong before anything is read or written."""

from collections.abc import Callable
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.compose import compose
from ptcli.config.identity import read
from ptcli.config.several_tasks import told_of
from ptcli.errors import ConfigError
from ptcli.finetuning.model import task_step
from ptcli.run.find import find_hugging_face, find_model
from ptcli.task.initialise import check_layers
from ptcli.task.multi import Multi
from ptcli.trainer.budget import Budget
from ptcli.trainer.trainer import Trainer


def check_fine_tuning(config: DictConfig, *, model: Callable[[], Any]) -> tuple[Any, Trainer]:
    """Build every part that needs no rows: the task and the trainer. `model`: gives the shape of the one to be trained;
    None where what is put on it has been checked.

    Raise ConfigError for what is out of its range or does not go together.
    """
    task = part(config, "task")
    task.check()
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    part(config, "schedule").check(total_steps=budget.total_steps)
    trainer.micro_size(config.batch.size, config.batch.micro_size)
    members = task.members if isinstance(task, Multi) else {}
    if members and trainer.devices > 1:
        raise ConfigError(
            f"trainer.devices={trainer.devices}: several tasks are trained together on one device. Use "
            "trainer.devices=1, or a command for each task."
        )
    shape = model()
    if shape is not None and not members:
        _check_on(task, shape)
    for name, member in members.items():
        with told_of(name):
            member.check()
            if shape is not None:
                _check_on(member, shape)
    return task, trainer


def shape_of(checkpoint: str, *, plugins: tuple[str, ...]) -> Any:
    """The model of a checkpoint without its weights, on the meta device: it takes no memory."""
    there = find_hugging_face(checkpoint)
    if there is None:
        config, _ = read(find_model(checkpoint) / "config.yaml", plugins=plugins)
        config.plugins = list(plugins)
    else:
        longest = there.config["max_position_embeddings"]
        config = compose("pretrain", [*there.overrides, f"max_length={longest}"]).config
    return meta_model(config)


def meta_model(config: DictConfig) -> Any:
    """The model of a configuration on the meta device."""
    with torch.device("meta"):
        return part(config, "model", vocab_size=8)


def _check_on(task: Any, model: Any) -> None:
    """Build what a task puts on a model. How many labels it has is known where they, or their weights, are given."""
    weights = task.on_model.get("class_weights")
    num_labels = len(task.labels) if task.labels is not None else len(weights) if weights else 2
    with torch.device("meta"):
        task_step(task, model, num_labels=num_labels)
    counts = {key: task.on_model.get(key, 0) for key in ("reinitialise_layers", "freeze_layers")}
    check_layers(len(model.layers()), **counts)
