"""A model that several tasks share: made, saved, read, and taken apart into one model for each task."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from torch import Tensor

from ptcli.assembly.parts import part
from ptcli.config.identity import read
from ptcli.errors import CheckpointError
from ptcli.files import write_whole
from ptcli.finetuning.model import Base, FineTuned, best_of, keep_settled, save_content, save_fine_tuned, task_objective
from ptcli.run.find import LABELS, find_model
from ptcli.task.joint_objective import JointObjective
from ptcli.task.multi import Multi
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.weights import load_weights

Labels = Mapping[str, Sequence[str]]
"""Of each task, by its name."""


def joint_step(task: Multi, model: Any, *, labels: Labels) -> TrainingStep:
    """The trained whole: a model, and the objectives that the tasks make of it."""
    objectives = {
        name: task_objective(member, model, num_labels=len(labels[name]), name=name)
        for name, member in task.members.items()
    }
    return TrainingStep(model, JointObjective(objectives))


def member_step(step: Any, name: str) -> TrainingStep:
    """The model with one task's objective alone: the same modules."""
    return TrainingStep(step.model, step.objective.members[step.objective.names.index(name)])


def is_joint(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> bool:
    """Whether `checkpoint`, a fine-tuned run, was trained on several tasks."""
    config, _ = read(find_model(checkpoint) / "config.yaml", plugins=plugins)
    return "members" in config.task


def save_joint(
    folder: Path, step: Any, *, config: DictConfig, base: Base, task: Multi, labels: Labels, best: dict[str, float]
) -> None:
    """Write the `model/` of a joint run, as ptcli.finetuning.model.save_fine_tuned does that of one task."""
    members = {
        name: {"labels": list(labels[name]), "names": list(member.names_of(labels[name]))}
        for name, member in task.members.items()
    }
    num_texts = 1 if all(member.num_texts == 1 for member in task.members.values()) else 2
    save_content(
        folder, step, config=config, base=base, num_texts=num_texts, content={"members": members, "best": best}
    )


def load_joint(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> FineTuned:
    """Read a joint run; `labels` are empty. Its configuration is data, as in load_fine_tuned."""
    folder = find_model(checkpoint)
    config, remarks = read(folder / "config.yaml", plugins=plugins)
    config.plugins = list(plugins)
    tokenizer = Tokenizer.load(folder / "tokenizer")
    task = part(config, "task")
    model = part(config, "model", vocab_size=tokenizer.vocabulary.size)
    content = _content(folder)
    step: Any = joint_step(task, model, labels={name: each["labels"] for name, each in content.items()})
    load_weights(step, folder)
    step.eval()
    for name, each in content.items():
        task.members[name].settled = {key: float(value) for key, value in each.get("settled", {}).items()}
    return FineTuned(folder, config, tokenizer, task, (), step, remarks)


def learned_of(joint: FineTuned, name: str) -> dict[str, Tensor]:
    """The tensors of a task's objective in a joint run."""
    return member_step(joint.step, name).objective.state_dict()  # type: ignore[union-attr]


def alone(config: DictConfig, name: str) -> DictConfig:
    """The configuration of a joint run, were a task the only one."""
    own = config.copy()
    OmegaConf.set_struct(own, False)
    shared = {key: config.task[key] for key in ("freeze_layers", "freeze_embeddings")}
    own.task = config.task.members[name]
    own.task.update(shared)
    return own


def write_members(path: Path, base: Base) -> None:
    """Write a model of its own for each task of the joint run in `path`, `path`/<name>/model. `base`: read from it."""
    joint: FineTuned = base.source
    content, best = _content(joint.folder), best_of(joint.folder)
    for name, member in joint.task.members.items():
        prefix = f"eval/{name}/"
        save_fine_tuned(
            path / name / "model",
            member_step(joint.step, name),
            config=alone(joint.config, name),
            base=base,
            task=member,
            labels=content[name]["labels"],
            best={f"eval/{key.removeprefix(prefix)}": value for key, value in best.items() if key.startswith(prefix)},
        )
        keep_settled(path / name / "model", member)


def keep_all_settled(folder: Path, task: Multi) -> None:
    """Write down in the `model/` of a joint run what its tasks have chosen by validation rows."""
    content = json.loads((folder / LABELS).read_text(encoding="utf-8"))
    for name, member in task.members.items():
        content["members"][name]["settled"] = member.settled
    write_whole(folder / LABELS, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def _content(folder: Path) -> dict[str, Any]:
    """What the labels' file says of each task."""
    try:
        members = json.loads((folder / LABELS).read_text(encoding="utf-8"))["members"]
        return {name: {**content, "labels": list(content["labels"])} for name, content in members.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{folder / LABELS} cannot be read: {error!r}") from error
