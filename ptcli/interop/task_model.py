"""Writing a fine-tuned model as transformers has it, and comparing what both say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ptcli.interop.family import Family
from ptcli.interop.folder import WEIGHTS
from ptcli.interop.huggingface import save, write_config, write_tokenizer
from ptcli.interop.rows import random_rows, relative_error
from ptcli.interop.task_head import TaskHead
from ptcli.interop.weights import to_theirs
from ptcli.tokenizer.tokenizer import Tokenizer


def write_task(
    folder: Path,
    module: nn.Module,
    *,
    family: Family,
    numbers: Mapping[str, Any],
    head: TaskHead,
    labels: Sequence[str],
    tokenizer: Tokenizer,
    max_length: int,
) -> None:
    """Write `module` (a TrainingStep) as the class of `head`. `labels`: what the logits are called."""
    places = max(numbers["max_position_embeddings"], max_length)
    outputs = module.state_dict()["objective.head.classifier.weight"].shape[0]
    named = list(labels) or [f"LABEL_{number}" for number in range(outputs)]
    config = {
        **numbers,
        **head.numbers,
        "max_position_embeddings": places,
        "tie_word_embeddings": True,
        "id2label": {str(number): label for number, label in enumerate(named)},
        "label2id": {label: number for number, label in enumerate(named)},
    }
    entries = [*family.body(config, order=module.model.order), *head.entries]  # type: ignore[union-attr, arg-type]
    save(to_theirs(module.state_dict(), entries), folder / WEIGHTS)
    write_config(folder, family=family, numbers=config, architecture=head.architecture, vocabulary=tokenizer.vocabulary)
    write_tokenizer(folder, tokenizer, max_length=max_length, segments=config["type_vocab_size"])


@torch.inference_mode()
def largest_error(
    folder: Path, step: Any, *, target: str, architecture: str, max_length: int, num_types: int, pad_token_id: int
) -> float:
    """Largest error of the logits that transformers gives over padded rows, as a share of the largest value."""
    import transformers

    level = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity_error()
    try:
        theirs = getattr(transformers, architecture).from_pretrained(folder).eval()
    finally:
        transformers.utils.logging.set_verbosity(level)
    inputs = random_rows(
        4, min(32, max_length), vocab_size=step.model.vocab_size, num_types=num_types, pad_token_id=pad_token_id
    )
    real = inputs["attention_mask"].bool()
    ours = step.eval().objective.predict(step.model, _batch(inputs))
    if target == "choice":
        found = theirs(**{name: tensor[None] for name, tensor in inputs.items()}).logits[0]
        return relative_error(found, ours["scores"])
    found = theirs(**inputs)
    if target == "span":
        pairs = ((found.start_logits, "start_logits"), (found.end_logits, "end_logits"))
        return max(relative_error(one[real], ours[name].view_as(one)[real]) for one, name in pairs)
    if target == "tokens":
        return relative_error(found.logits[real], ours["token_logits"])
    expected = ours["values"][:, None] if target == "value" else ours["logits"]
    return relative_error(found.logits, expected)


def _batch(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One example a row, all of whose tokens are asked about."""
    mask, (rows, length) = inputs["attention_mask"], inputs["input_ids"].shape
    return {
        **inputs,
        "position_ids": torch.arange(length).expand(rows, length),
        "sequence_ids": mask,
        "example_positions": torch.arange(rows) * length,
        "token_positions": mask.flatten().nonzero()[:, 0],
        "context_places": mask.bool(),
    }
