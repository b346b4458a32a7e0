"""The special tokens of a tokenizer, found by name, and how its family lays out an example."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptcli.errors import ConfigError
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

# What the families call them, where the folder does not say.
_NAMES = {
    "pad_token": ("[PAD]", "<pad>"),
    "unk_token": ("[UNK]", "<unk>"),
    "cls_token": ("[CLS]", "<s>", "<cls>"),
    "sep_token": ("[SEP]", "</s>", "<sep>"),
    "mask_token": ("[MASK]", "<mask>"),
}
_DECLARED_IN = ("special_tokens_map.json", "tokenizer_config.json")
_UNUSED = re.compile(r"\[unused\d+\]|<unused\d+>|madeupword\d+")


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The names of the special tokens; None for one that the tokenizer does not have."""

    pad_token: str | None
    unk_token: str | None
    cls_token: str | None
    sep_token: str | None
    mask_token: str | None

    def named(self) -> dict[str, str]:
        """Those that there are, by the name of their role."""
        return {role: token for role, token in asdict(self).items() if token is not None}


def find_special_tokens(vocabulary: Mapping[str, int], *, folder: Path | None, source: Path) -> SpecialTokens:
    """The special tokens that the folder's files declare, else those that the vocabulary holds under a known name.

    Raises ConfigError where there is no mask or no padding token. `source` is named in messages.
    """
    declared: dict[str, str] = {}
    for name in _DECLARED_IN:
        if folder is not None and (folder / name).is_file():
            declared = {**_declared(folder / name), **declared}
    found: dict[str, str | None] = {}
    for role, usual in _NAMES.items():
        candidates = [declared[role]] if role in declared else list(usual)
        found[role] = next((token for token in candidates if token in vocabulary), None)
    special = SpecialTokens(**found)
    for role in ("mask_token", "pad_token"):
        if getattr(special, role) is None:
            told = f"declares {declared[role]}, which is not in its vocabulary" if role in declared else "has none"
            raise ConfigError(
                f"{source} cannot be used to pretrain: it needs a {role} ({' or '.join(_NAMES[role])}), but {told}. "
                "Choose the tokenizer of a masked language model, or tokenizer=wordpiece, which trains one."
            )
    return special


def vocabulary_of(inner: Any, special: SpecialTokens) -> Vocabulary:
    """The ids of a `tokenizers.Tokenizer`."""
    entries = inner.get_vocab(with_added_tokens=True)
    size = max(entries.values()) + 1
    is_special = np.ones(size, bool)  # ids that no token has are holes: never drawn
    for token, number in entries.items():
        is_special[number] = _UNUSED.fullmatch(token) is not None
    for number, added in inner.get_added_tokens_decoder().items():
        is_special[number] |= added.special
    ids = {role: entries[token] for role, token in special.named().items()}
    is_special[list(ids.values())] = True
    is_special.setflags(write=False)
    return Vocabulary(
        size=size,
        pad_token_id=ids["pad_token"],
        mask_token_id=ids.get("mask_token"),
        cls_token_id=ids.get("cls_token"),
        sep_token_id=ids.get("sep_token"),
        unk_token_id=ids.get("unk_token"),
        special=is_special,
        layout=_layout(inner, special, ids),
    )


def _declared(file: Path) -> dict[str, str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}. Fetch the tokenizer's folder again.") from error
    result = {}
    for role in _NAMES:
        token = content.get(role)
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            result[role] = token
    return result


def _layout(inner: Any, special: SpecialTokens, ids: dict[str, int]) -> Layout:
    """What the tokenizer itself puts around a pair; where it puts nothing, what its family does."""
    pair = inner.encode("a", "a")
    sequences = pair.sequence_ids
    if None in sequences and 0 in sequences and 1 in sequences:
        first, second = sequences.index(0), sequences.index(1)
        last = len(sequences) - sequences[::-1].index(1)
        between = tuple(i for i, s in zip(pair.ids[first:second], sequences[first:second], strict=True) if s is None)
        prefix, suffix = tuple(pair.ids[:first]), tuple(pair.ids[last:])
        return Layout(prefix, between, suffix, classify_last=_classify_last(prefix, suffix, ids))
    prefix = (ids["cls_token"],) if "cls_token" in ids else ()
    suffix = (ids["sep_token"],) if "sep_token" in ids else ()
    doubled = special.cls_token == "<s>" and special.sep_token == "</s>"
    between = suffix * 2 if doubled else suffix
    return Layout(prefix, between, suffix, classify_last=_classify_last(prefix, suffix, ids))


def _classify_last(prefix: tuple[int, ...], suffix: tuple[int, ...], ids: dict[str, int]) -> bool:
    """The token that classifies stands last, or there is none and nothing but the end is special."""
    cls = ids.get("cls_token")
    return cls in suffix if cls in (*prefix, *suffix) else bool(suffix) and not prefix
