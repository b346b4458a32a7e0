"""Which parameters decay: matrices and embeddings; not biases, norms and other vectors (BERT, arXiv 1810.04805)."""

from typing import Any

from torch import nn


def parameter_groups(module: nn.Module, *, weight_decay: float) -> list[dict[str, Any]]:
    """The trainable parameters of `module`, each exactly once (a tied or shared one under its first name).

    A parameter is exempt from decay when it is a vector or a number, or when its own name ends with "bias" (XLNet has
    biases that are matrices). Groups carry a `name`; one without parameters is left out.
    """
    decayed: list[nn.Parameter] = []
    exempt: list[nn.Parameter] = []
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            is_exempt = parameter.ndim < 2 or name.rsplit(".", 1)[-1].endswith("bias")
            (exempt if is_exempt else decayed).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": weight_decay, "name": "decayed"},
        {"params": exempt, "weight_decay": 0.0, "name": "not decayed"},
    ]
    return [group for group in groups if group["params"]]


def describe_groups(groups: list[dict[str, Any]]) -> str:
    """One line: how many tensors and numbers each group holds, and its decay."""
    return "; ".join(
        f"{group['name']}: {sum(p.numel() for p in group['params']):,} parameters in {len(group['params'])} tensors, "
        f"weight decay {group['weight_decay']:g}"
        for group in groups
    )
