"""Which parameters decay, and which layers learn slower: groups of parameters by rule."""

from collections.abc import Callable, Collection
from typing import Any

from torch import nn

from ptcli.errors import ConfigError
from ptcli.optimizer.ranges import check_learning_rate, check_weight_decay

Group = dict[str, Any]

DECAY_EXEMPT: dict[str, Callable[[str, nn.Parameter], bool]] = {
    # BERT's rule by names (arXiv 1810.04805) and that by dimensions, together: XLNet has biases that are matrices
    "vectors_and_biases": lambda name, p: p.ndim < 2 or name.rpartition(".")[2].endswith("bias"),
    "vectors": lambda name, p: p.ndim < 2,  # GPT-1
    "none": lambda name, p: False,  # fairseq, and so RoBERTa
}


def parameter_groups(
    module: nn.Module,
    *,
    learning_rate: float,
    weight_decay: float,
    decay_exempt: str = "vectors_and_biases",
    layer_decay: float = 1.0,
    only: Collection[nn.Parameter] | None = None,
) -> list[Group]:
    """The trainable parameters of `module`, each exactly once (a tied or shared one under its first name).

    Groups carry a `name`, their `weight_decay` and `lr`, and `is_exempt`; one without parameters is left out.

    Args:
        module: a TrainingStep, or any module where there is no `layer_decay`.
        learning_rate: of the heads, and of everything where `layer_decay` is 1.
        weight_decay: of what is not exempt.
        decay_exempt: vectors_and_biases (vectors, numbers, and what is named a bias), vectors, or none.
        layer_decay: d in (0, 1]: heads learn at d^0, the last of n layers at d^1, the first at d^n, the embeddings at
            d^(n+1) of the rate (ELECTRA, arXiv 2003.10555, whose code gives the last layer d^2). A parameter that
            several layers share has the rate of the last of them.
        only: the parameters to look at; None: all.
    """
    check_learning_rate(learning_rate)
    check_weight_decay(weight_decay)
    if decay_exempt not in DECAY_EXEMPT:
        raise ConfigError(f"optimizer.decay_exempt={decay_exempt}: one of {', '.join(DECAY_EXEMPT)}.")
    if not 0 < layer_decay <= 1:
        raise ConfigError(f"optimizer.layer_decay={layer_decay}: a factor in (0, 1]; 1: all layers learn alike.")
    is_exempt = DECAY_EXEMPT[decay_exempt]
    depths = depths_of(module) if layer_decay < 1 else {}
    deepest = max(depths.values(), default=0)
    groups: dict[tuple[int, bool], Group] = {}
    wanted = None if only is None else set(only)
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad or (wanted is not None and parameter not in wanted):
            continue
        depth, exempt = depths.get(parameter, 0), is_exempt(name, parameter)
        decays = "not decayed" if exempt else "decayed"
        group = groups.setdefault(
            (depth, exempt),
            {
                "params": [],
                "weight_decay": 0.0 if exempt else weight_decay,
                "lr": learning_rate * layer_decay**depth,
                "is_exempt": exempt,
                "name": f"{_place(depth, deepest)}, {decays}" if depths else decays,
            },
        )
        group["params"].append(parameter)
    return [groups[key] for key in sorted(groups)]


def layers_of(module: nn.Module) -> list[nn.Module]:
    """The layers of the model that `module` (a TrainingStep) trains, in order; shared ones in several places."""
    model: Any = getattr(module, "model", None)
    assert hasattr(model, "layers"), "this optimizer is made for a TrainingStep, whose model has layers()"
    return model.layers()


def depths_of(module: nn.Module) -> dict[nn.Parameter, int]:
    """How far each parameter of a TrainingStep lies below the top: 0 heads, 1 the last layer, ..., then embeddings."""
    layers = layers_of(module)
    model: Any = module.model
    depths = dict.fromkeys(module.parameters(), 0)
    above = getattr(model, "final_norm", None)  # a norm behind the last layer belongs to the heads
    depths |= dict.fromkeys(model.parameters(), len(layers) + 1)
    depths |= dict.fromkeys(above.parameters() if above is not None else (), 0)
    for number, layer in enumerate(layers):
        depths |= dict.fromkeys(layer.parameters(), len(layers) - number)
    return depths


def describe_groups(groups: list[Group]) -> list[str]:
    """A line for each group: how many tensors and numbers it holds, its decay and its learning rate."""
    return [
        f"{group['name']}: {sum(p.numel() for p in group['params']):,} parameters in {len(group['params'])} tensors, "
        f"weight decay {group['weight_decay']:g}, learning rate {group['lr']:.3g}"
        for group in groups
    ]


def _place(depth: int, deepest: int) -> str:
    if depth == 0:
        return "heads"
    return "embeddings" if depth == deepest else f"layer {deepest - depth}"
