"""Loading an exported folder with transformers, and comparing what it says with the model itself."""

import importlib.util
from pathlib import Path

import torch

from ptcli.errors import CheckpointError
from ptcli.interop.family import LARGEST_ERROR
from ptcli.interop.module import PlainModel
from ptcli.interop.rows import random_rows, relative_error


def has_transformers() -> bool:
    """Whether the comparison can be made."""
    return importlib.util.find_spec("transformers") is not None


def largest_error(folder: Path, plain: PlainModel, *, head: bool, max_length: int, pad_token_id: int) -> float:
    """Largest error of hidden states and, with `head`, of logits, over padded rows, as a share of the largest value."""
    from transformers import AutoModel, AutoModelForMaskedLM
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()  # AutoModel tells of the head that it does not load
    try:
        body = AutoModel.from_pretrained(folder).eval()
        masked_lm = AutoModelForMaskedLM.from_pretrained(folder).eval() if head else None
    finally:
        logging.set_verbosity(level)
    inputs = random_rows(
        4, min(32, max_length), vocab_size=plain.vocab_size, num_types=plain.num_types, pad_token_id=pad_token_id
    )
    real = inputs["attention_mask"].bool()
    with torch.inference_mode():
        error = relative_error(body(**inputs).last_hidden_state[real], plain.hidden_states(**inputs)[real])
        if masked_lm is not None:
            error = max(error, relative_error(masked_lm(**inputs).logits[real], plain(**inputs)[real]))
    return error


def check_error(error: float, where: str) -> None:
    """Raise CheckpointError where another library gives other numbers than the model itself."""
    if not error < LARGEST_ERROR:
        raise CheckpointError(
            f"{where} gives other numbers than the model itself (they differ by {error:.1e} of the largest value, "
            f"{LARGEST_ERROR:g} is allowed), so nothing was written. This is an error of ptcli's: please report it."
        )
