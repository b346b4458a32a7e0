"""What a mask is given beside its settings: the vocabulary, what the training text taught it, the length of the run."""

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.bind import signature
from ptcli.errors import ConfigError
from ptcli.mask.strategy import MaskStrategy
from ptcli.randomness import key_of
from ptcli.store.documents import Documents
from ptcli.store.store import Store
from ptcli.tokenizer.vocabulary import Vocabulary

MASKS = ("mask", "eval.mask")

Learnt = dict[str, np.ndarray]
"""What masks and baselines know of the training text: `token_counts` int64 (V,), and of a mask that `learns` something
`<mask>_<what it learns>`.
"""


def learn(
    config: DictConfig,
    store: Store,
    *,
    training: Sequence[Documents],
    held_out: Sequence[Documents],
    vocabulary: Vocabulary,
    known: Learnt | None = None,
) -> Learnt:
    """Count tokens, and let masks learn what they declare (`MaskStrategy.learns`), which is kept beside the store.

    What is `known`, because another text was trained on, is not learnt here.
    """
    learnt = dict(known or {})
    if "token_counts" not in learnt:
        learnt["token_counts"] = _token_counts(store, held_out)
    for key in MASKS:
        mask = part(config, key)
        if mask.learns and _name_of(key, mask) not in learnt:
            learnt[_name_of(key, mask)] = _learnt_once(mask, config, store, training, vocabulary)
    return learnt


def make_mask(config: DictConfig, key: str, *, store: Store, vocabulary: Vocabulary, learnt: Learnt) -> MaskStrategy:
    """The mask that `config.<key>` names."""
    settings: MaskStrategy = part(config, key)  # without what it is given: its settings and facts
    given: dict[str, Any] = {"vocabulary": vocabulary, "counts": learnt["token_counts"]}
    if settings.never:
        given["never"] = never_ids(settings.never, store)
    if settings.scheduled and settings.schedule_steps is None:
        given["schedule_steps"] = OmegaConf.select(config, "budget.steps")
    if any("unit_types" in signature(base)[0] for base in type(settings).__mro__):
        given["unit_types"] = part(config, "words").unit_types
    if settings.learns:
        given[settings.learns] = learnt[_name_of(key, settings)]
    return part(config, key, **given)


def masked_vocabulary(mask: Any, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary as a mask sees it: what it never selects counts as special, so that shares are measured right."""
    never = np.zeros(vocabulary.size, bool)
    never[list(mask.never)] = True
    return dataclasses.replace(vocabulary, special=vocabulary.special | never) if never.any() else vocabulary


def never_ids(never: Sequence[int | str], store: Store) -> list[int]:
    """Ids of ids and tokens. Raises ConfigError for what the tokenizer does not have."""
    tokenizer = store.tokenizer()
    ids = []
    for entry in never:
        found = tokenizer.id(entry) if isinstance(entry, str) else entry
        if found is None:
            pieces = " ".join(tokenizer.token(int(i)) for i in tokenizer.encode([str(entry)])[0][0])
            raise ConfigError(f"mask.never: {entry!r} is no token of the tokenizer; it is made of {pieces}")
        ids.append(found)
    return ids


def _token_counts(store: Store, held_out: Sequence[Documents]) -> np.ndarray:
    """How often each id occurs in the training documents, int64 (V,): the store's counts less the held-out ones."""
    counts = store.token_counts.copy()
    for documents in held_out:
        tokens = store.shards[documents.shard].tokens
        for begin, end in documents.sentence_offsets[documents.ranges]:
            counts -= np.bincount(tokens[begin:end], minlength=counts.shape[0])
    return counts


def _learnt_once(
    mask: MaskStrategy, config: DictConfig, store: Store, training: Sequence[Documents], vocabulary: Vocabulary
) -> np.ndarray:
    """What a mask learns from the training text, found beside the store or put there."""
    asked = *(getattr(mask, name) for name in mask.learns_by), config.eval.fraction
    path = store.folder / f"{mask.learns}-{int(key_of(str(mask.learns), *map(str, asked))):016x}.npy"
    if path.is_file():
        return np.load(path)
    found = mask.learn(store.shards, training, vocabulary=vocabulary)
    handle, temporary = tempfile.mkstemp(dir=store.folder, suffix=".npy")
    with os.fdopen(handle, "wb") as file:
        np.save(file, found)
    Path(temporary).replace(path)
    return found


def _name_of(key: str, mask: MaskStrategy) -> str:
    """By which what a mask learns is kept with the model: `mask_ngrams`."""
    return f"{key.replace('.', '_')}_{mask.learns}"
