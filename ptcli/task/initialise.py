"""What of a task's model starts from a checkpoint, what at random, and what stays as it is."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ptcli.errors import ConfigError
from ptcli.model.heads import Pooler


def initialise(
    step: Any,
    *,
    pooler: nn.Module | None,
    trained_segments: int,
    fresh: Callable[[], nn.Module],
    reinitialise_layers: int = 0,
    freeze_layers: int = 0,
    freeze_embeddings: bool = False,
    learned: Mapping[str, Tensor] | None = None,
) -> list[str]:
    """Prepare a step whose model has a checkpoint's weights and whose objective is new; what was done, a line each.

    Args:
        pooler: that pretraining on pairs trained: a task's own begins as a copy; None: there was none.
        trained_segments: segments that pretraining told apart; where it was one, a second begins as a copy of it.
        fresh: gives the model with random weights; asked only where layers are to start random.
        reinitialise_layers: how many of the last layers start random all the same ("Revisiting Few-sample BERT
            Fine-tuning", arXiv:2006.05987).
        freeze_layers: how many of the first layers are not trained.
        freeze_embeddings: whether the embeddings, with what leads from them to the layers, are not trained.
        learned: the objective's own tensors, of a task that was trained with others before; None: they start random.

    Raise ConfigError for more layers than there are, and where a layer shares weights with one that is treated
    otherwise.
    """
    layers = step.model.layers()
    check_layers(len(layers), reinitialise_layers=reinitialise_layers, freeze_layers=freeze_layers)
    remarks = [*_copy_segment(step.model, trained_segments), *_begin(step, pooler, learned)]
    if reinitialise_layers:
        remarks.append(_reinitialise(layers, fresh().layers(), reinitialise_layers))  # type: ignore[operator]
    if freeze_layers or freeze_embeddings:
        remarks.append(_freeze(step, layers, freeze_layers, embeddings=freeze_embeddings))
    return remarks


def check_layers(number: int, *, reinitialise_layers: int, freeze_layers: int) -> None:
    """Raise ConfigError for more layers than the `number` that a model has."""
    for key, count in (("reinitialise_layers", reinitialise_layers), ("freeze_layers", freeze_layers)):
        if not 0 <= count <= number:
            raise ConfigError(f"task.{key}={count} must lie between 0 and {number}, the model's layers.")
    if freeze_layers + reinitialise_layers > number:
        raise ConfigError(
            f"task.freeze_layers={freeze_layers} and task.reinitialise_layers={reinitialise_layers} meet in a model of "
            f"{number} layers: a layer with random weights is to be trained. Use smaller ones."
        )


def check_length(model: Any, *, max_length: int, longest: int, checkpoint: str) -> None:
    """Raise ConfigError where examples may be longer than the places that a checkpoint has learned.

    `longest`: tokens of the longest row that it was trained on.
    """
    if model.longest_row is not None and max_length > longest:
        raise ConfigError(
            f"max_length={max_length}: checkpoint={checkpoint} was trained on rows of at most {longest} tokens, and "
            f"the places beyond were never learned. Use max_length={longest}, or train on longer rows first."
        )


@torch.no_grad()
def _copy_segment(model: Any, trained: int) -> list[str]:
    types = model.embeddings.types
    if trained != 1 or types is None or types.num_embeddings < 2:
        return []
    types.weight[1:] = types.weight[:1]
    return ["segments: the checkpoint was trained on one; the second begins as a copy of it"]


def _begin(step: Any, pooler: nn.Module | None, learned: Mapping[str, Tensor] | None) -> list[str]:
    if learned is None:
        return _start_random(step, pooler)
    step.objective.load_state_dict(learned)
    return ["objective: as the joint training left it"]


@torch.no_grad()
def _start_random(step: Any, pooler: nn.Module | None) -> list[str]:
    """Copy the pooler, where the objective has one; what else of the objective is new."""
    own = [part for part in step.objective.modules() if isinstance(part, Pooler)]
    remarks, copied = [], []
    if pooler is not None:
        for part in own:
            part.load_state_dict(pooler.state_dict())
            copied += list(part.parameters())
        remarks = ["pooler: as pretraining on pairs left it"] * bool(own)
    known = {id(parameter) for parameter in copied}
    random = [f"objective.{name}" for name, p in step.objective.named_parameters() if id(p) not in known]
    return [*remarks, f"starting random: {', '.join(random)}"]


@torch.no_grad()
def _reinitialise(layers: list[nn.Module], fresh: list[nn.Module], count: int) -> str:
    first = len(layers) - count
    if _parameters(layers[:first]) & _parameters(layers[first:]):
        raise ConfigError(
            f"task.reinitialise_layers={count} renews layers whose weights others below use, too (model/sharing). "
            f"Use task.reinitialise_layers=0, or {len(layers)} for all layers."
        )
    for layer, other in zip(layers[first:], fresh[first:], strict=True):
        layer.load_state_dict(other.state_dict())
    return f"starting random all the same: the last {count} of {len(layers)} layers"


def _freeze(step: Any, layers: list[nn.Module], count: int, *, embeddings: bool) -> str:
    model = step.model
    if embeddings and getattr(step, "second_pass", None) is not None:
        raise ConfigError(
            "task.freeze_embeddings=true leaves the token vectors without the gradient along which "
            "task/adversarial=fgm moves them. Use task.freeze_embeddings=false, or task/adversarial=smart."
        )
    if _parameters(layers[:count]) & _parameters(layers[count:]):
        raise ConfigError(
            f"task.freeze_layers={count} freezes weights that layers above use, too (model/sharing). "
            f"Use task.freeze_layers=0, or {len(layers)} for all layers."
        )
    frozen = _parameters(layers[:count])
    if embeddings:
        frozen |= _parameters([model.embeddings, model.positions]) - _parameters(layers)
    number = 0
    for parameter in model.parameters():
        if id(parameter) in frozen:
            parameter.requires_grad_(False)
            number += parameter.numel()
    what = [*["the embeddings"] * embeddings, *[f"the first {count} of {len(layers)} layers"] * bool(count)]
    return f"not trained: {' and '.join(what)}, {number:,} parameters"


def _parameters(modules: Iterable[nn.Module]) -> set[int]:
    return {id(parameter) for module in modules for parameter in module.parameters()}
