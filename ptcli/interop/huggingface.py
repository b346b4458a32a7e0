"""Writing a model as transformers has it: config.json, model.safetensors, tokenizer files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from ptcli.interop.family import Family
from ptcli.interop.folder import CONFIG, WEIGHTS
from ptcli.interop.weights import to_theirs
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.vocabulary import Vocabulary


@dataclass(frozen=True)
class Written:
    """What a folder holds: the class that it names, and our tensors that this class has no place for."""

    architecture: str
    left_out: list[str]


def write(
    folder: Path,
    module: nn.Module,
    *,
    family: Family,
    numbers: Mapping[str, Any],
    tokenizer: Tokenizer,
    max_length: int,
    with_head: bool,
    tied: bool,
) -> Written:
    """Write `module` (a TrainingStep) as a model of `family`; `numbers` are the family's entries of config.json.

    `with_head`: whether the masked-LM head is one of theirs; `tied`: whether it multiplies with the embeddings.
    """
    tensors = module.state_dict()
    places = max(numbers["max_position_embeddings"], max_length)  # without a table of places, there are always enough
    config = {**numbers, "max_position_embeddings": places, "tie_word_embeddings": tied}
    entries = family.body(config, order=module.model.order)  # type: ignore[union-attr, arg-type]
    assert {name for name in tensors if name.startswith("model.")} <= {entry.ours for entry in entries}
    architecture = family.masked_lm_class if with_head else family.body_class
    if with_head:
        entries += family.masked_lm_head(config)
    if "objective.pair_head.pooler.dense.weight" in tensors:
        entries += family.pooler()
        classifier = family.pair_classifier()
        labels = tensors["objective.pair_head.classifier.weight"].shape[0]
        if with_head and family.pretraining_class and classifier and labels == 2:
            entries += classifier
            architecture = family.pretraining_class
    save(to_theirs(tensors, entries), folder / WEIGHTS)
    write_config(folder, family=family, numbers=config, architecture=architecture, vocabulary=tokenizer.vocabulary)
    write_tokenizer(folder, tokenizer, max_length=max_length, segments=config["type_vocab_size"])
    return Written(architecture, sorted(set(tensors) - {entry.ours for entry in entries}))


def write_config(
    folder: Path, *, family: Family, numbers: Mapping[str, Any], architecture: str, vocabulary: Vocabulary
) -> None:
    """config.json of a class of a family: `numbers`, and what the tokenizer's vocabulary says."""
    ids = {
        "pad_token_id": vocabulary.pad_token_id,
        "bos_token_id": vocabulary.cls_token_id,
        "eos_token_id": vocabulary.sep_token_id,
    }
    if "cls_token_id" in numbers:
        ids |= {"cls_token_id": vocabulary.cls_token_id, "sep_token_id": vocabulary.sep_token_id}
    content = {
        "architectures": [architecture],
        "model_type": family.model_type,
        "vocab_size": vocabulary.size,
        **numbers,
        **ids,
        "dtype": "float32",
    }
    _write_json(folder / CONFIG, content)


def write_tokenizer(folder: Path, tokenizer: Tokenizer, *, max_length: int, segments: int) -> None:
    """The tokenizer's files, for AutoTokenizer: it puts special tokens where training had them.

    `max_length`: tokens of the longest row that was trained; `segments`: how many the model tells apart.
    """
    tokenizer.save(folder)
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["post_processor"] = _template(tokenizer, segments=segments)
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    names = ["input_ids", *(["token_type_ids"] if segments > 1 else []), "attention_mask"]
    _write_json(file, config | {"model_max_length": max_length, "model_input_names": names})


def _template(tokenizer: Tokenizer, *, segments: int) -> dict[str, Any]:
    """A post-processor of the library tokenizers: the layout of one text and of two."""
    layout, second = tokenizer.vocabulary.layout, 1 if segments > 1 else 0
    specials = {
        tokenizer.token(i): {"id": tokenizer.token(i), "ids": [i], "tokens": [tokenizer.token(i)]}
        for i in (*layout.prefix, *layout.between, *layout.suffix)
    }

    def special(ids: tuple[int, ...], segment: int) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": tokenizer.token(i), "type_id": segment}} for i in ids]

    first = {"Sequence": {"id": "A", "type_id": 0}}
    pair = [*special(layout.prefix, 0), first, *special(layout.between, 0)]
    return {
        "type": "TemplateProcessing",
        "single": [*special(layout.prefix, 0), first, *special(layout.suffix, 0)],
        "pair": [*pair, {"Sequence": {"id": "B", "type_id": second}}, *special(layout.suffix, second)],
        "special_tokens": specials,
    }


def save(tensors: dict[str, Any], file: Path) -> None:
    """Write tensors under their names, as transformers reads them."""
    from safetensors.torch import save_file

    save_file(tensors, file, metadata={"format": "pt"})


def _write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
