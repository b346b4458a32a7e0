"""Training that starts from the weights of another model."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptcli.errors import CheckpointError, ConfigError
from ptcli.run.find import find_hugging_face, find_model
from ptcli.run.load import VOCABULARY_TENSORS, fit_vocabulary, tensors_of
from ptcli.tokenizer.known import find_known
from ptcli.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from torch import Tensor


def implied(words: Sequence[str]) -> list[str]:
    """What a checkpoint=FOLDER of transformers' among the words says of the model and the tokenizer, as overrides.

    What is typed is left out. A run's folder says nothing here: its model is typed as it was for the run.
    """
    typed = {word.split("=", 1)[0] for word in words if "=" in word}
    checkpoint = next((word.split("=", 1)[1] for word in reversed(words) if word.startswith("checkpoint=")), "")
    several = "," in checkpoint  # of a sweep: each job has its own, and is told what to type where it does not fit
    there = None if several or checkpoint in ("", "null") else find_hugging_face(checkpoint)
    if there is None:
        return []
    groups = {key.replace("/", ".") for key in typed if key != "model"}
    found = [
        override
        for override in [*there.overrides, "tokenizer=pretrained", f"tokenizer.path={there.path}"]
        if not _is_typed(override.split("=", 1)[0], typed, groups)
    ]
    print(f"from {there.path}: {' '.join(found)}", file=sys.stderr)
    return found


def start_from(checkpoint: str, step: Any, tokenizer: Tokenizer, *, resize_vocabulary: bool = False) -> list[str]:
    """Load the weights of another model into `step`; what of it starts random, and what is not used, one line each.

    The model must fit whole; heads that the other one did not have start random. `resize_vocabulary`: another tokenizer
    is allowed; a token that both have keeps its rows. Raises CheckpointError where shapes or the tokenizer differ.
    """
    import torch

    from ptcli.trainer.weights import WEIGHTS, named_tensors, read_tensors

    there = find_hugging_face(checkpoint)
    if there is None:
        folder = find_model(checkpoint)
        saved, ties = read_tensors(folder / WEIGHTS)
        saved = saved | {name: saved[first] for name, first in ties.items()}
        unused = sorted(set(saved) - set(step.state_dict()))
        own, settings = folder / "tokenizer", f"in {folder / 'config.yaml'}"
    else:
        folder = own = there.path
        saved, unused = tensors_of(there, step)
        settings = " ".join(there.overrides)
    remarks = _match_vocabulary(checkpoint, saved, step, tokenizer, own=str(own), resize=resize_vocabulary)
    tensors, _ = named_tensors(step)
    misfits = [
        f"{name} {tuple(saved[name].shape) if name in saved else 'absent'} for {tuple(tensor.shape)}"
        for name, tensor in tensors.items()
        if (name.startswith("model.") and name not in saved) or (name in saved and saved[name].shape != tensor.shape)
    ]
    if misfits:
        raise CheckpointError(
            f"checkpoint={checkpoint} does not fit this model: {', '.join(misfits[:6])}. "
            f"Its own settings are: {settings}"
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name in saved:
                tensor.copy_(saved[name])
    random = sorted(set(tensors) - set(saved))
    return [
        f"weights: {len(tensors) - len(random)} tensors from {folder}",
        *remarks,
        *([f"starting random, since {checkpoint} has none: {', '.join(random)}"] if random else []),
        *([f"not used of {checkpoint}: {', '.join(unused)}"] if unused else []),
    ]


def _match_vocabulary(
    checkpoint: str, saved: "dict[str, Tensor]", step: Any, tokenizer: Tokenizer, *, own: str, resize: bool
) -> list[str]:
    """Make the tables with a row for each id those of `tokenizer`, in place; remarks on what was done."""
    before = find_known(own, key="checkpoint").load()
    if before.hash in (tokenizer.hash, tokenizer.mapped_to):
        return fit_vocabulary(saved, size=tokenizer.vocabulary.size)
    if not resize:
        raise ConfigError(
            f"checkpoint={checkpoint} was trained with another tokenizer, so its embeddings mean other tokens. "
            f"Use its own: tokenizer=pretrained tokenizer.path={own} Or type resize_vocabulary=true: tokens that both "
            "have keep their embeddings, new ones start random."
        )
    size = tokenizer.vocabulary.size
    pairs = [(new, before.id(tokenizer.token(new))) for new in range(size)]
    kept = [(new, old) for new, old in pairs if old is not None]
    state = step.state_dict()
    for name in VOCABULARY_TENSORS:
        if name in saved and name in state and saved[name].shape[1:] == state[name].shape[1:]:
            rows = state[name].clone()
            rows[[new for new, _ in kept]] = saved[name][[old for _, old in kept]]
            saved[name] = rows
    return [f"vocabulary: {len(kept):,} of {size:,} tokens keep their embeddings, the others start random"]


def _is_typed(key: str, typed: set[str], groups: set[str]) -> bool:
    dotted = key.replace("/", ".")
    return key in typed or dotted in groups or any(dotted.startswith(f"{group}.") for group in groups)
