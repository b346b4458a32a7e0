"""How weights begin."""

from torch import nn


def initialize(module: nn.Module, *, std: float) -> None:
    """BERT's start for everything below `module`: matrices from N(0, std), biases 0; norms keep their own (1 and 0).

    A normal, not BERT's own truncated normal (cut at two deviations): as transformers does.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)


def dropout(probability: float) -> nn.Module:
    """Dropout, or nothing at all where the probability is 0."""
    return nn.Dropout(probability) if probability else nn.Identity()
