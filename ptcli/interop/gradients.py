"""Gradients of a model and of its exported copy, side by side."""

from pathlib import Path

import torch
from torch.nn import functional as F

from ptcli.interop.module import PlainModel
from ptcli.interop.rows import random_rows, relative_error


def embedding_gradient_error(folder: Path, plain: PlainModel, *, pad_token_id: int) -> float:
    """Largest error of the token embeddings' gradient, which all layers pass, as a share of the largest value.

    The padding token is left out: transformers gives it none.
    """
    from transformers import AutoModelForMaskedLM

    theirs = AutoModelForMaskedLM.from_pretrained(folder).eval()
    inputs = random_rows(3, 20, vocab_size=plain.vocab_size, num_types=plain.num_types, pad_token_id=pad_token_id)
    real = inputs["attention_mask"].bool()
    generator = torch.Generator().manual_seed(1)
    targets = torch.randint(0, plain.vocab_size, real.shape, generator=generator)[real]
    found = []
    for logits, table in (
        (theirs(**inputs).logits, theirs.get_input_embeddings().get_parameter("weight")),
        (plain(**inputs), plain.get_parameter("model.embeddings.tokens.weight")),
    ):
        (gradient,) = torch.autograd.grad(F.cross_entropy(logits[real], targets), table)
        gradient[pad_token_id] = 0
        found.append(gradient)
    return relative_error(*found)
