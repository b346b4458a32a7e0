"""How weights begin."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class Initializer:
    """BERT's start: matrices from N(0, std), biases 0; norms keep their own (1 and 0).

    `cutoff`: what lies farther from 0 than so many deviations is drawn again; None, as in transformers' BERT: nothing
    is. (BERT's own code cuts at 2.) `outward`: factor of matrices that lead out of a sub-layer or into the vocabulary;
    1/sqrt(2 num_layers) in ModernBERT (arXiv:2412.13663), after Megatron (arXiv:1909.08053), so that the sum over the
    layers starts no larger than one of them.
    """

    std: float = 0.02
    cutoff: float | None = None
    outward: float = 1.0

    def start(self, module: nn.Module) -> None:
        """Draw everything below `module`."""
        for part in module.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                if self.cutoff is None:
                    nn.init.normal_(part.weight, std=self.std)
                else:
                    reach = self.cutoff * self.std
                    nn.init.trunc_normal_(part.weight, std=self.std, a=-reach, b=reach)
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.zeros_(part.bias)

    @torch.no_grad()
    def scale_outward(self, module: nn.Module) -> None:
        """Take the matrices below `module` to be such that lead outward."""
        if self.outward != 1:
            for part in module.modules():
                if isinstance(part, nn.Linear):
                    part.weight.mul_(self.outward)


def dropout(probability: float) -> nn.Module:
    """Dropout, or nothing at all where the probability is 0."""
    return nn.Dropout(probability) if probability else nn.Identity()
