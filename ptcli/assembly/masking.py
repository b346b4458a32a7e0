"""What a mask is given beside its settings: the vocabulary, what the training text taught it, the length of the run."""

import dataclasses
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.build import build
from ptcli.errors import ConfigError
from ptcli.randomness import key_of
from ptcli.store.documents import Documents
from ptcli.store.store import Store
from ptcli.tokenizer.vocabulary import Vocabulary

log = logging.getLogger(__name__)

MASKS = ("mask", "eval.mask")

Learnt = dict[str, np.ndarray]
"""What masks and baselines know of the training text: `token_counts` int64 (V,), and `<mask>_ngrams` where asked."""


def learn(
    config: DictConfig,
    store: Store,
    *,
    training: Sequence[Documents],
    held_out: Sequence[Documents],
    vocabulary: Vocabulary,
    known: Learnt | None = None,
) -> Learnt:
    """Count tokens, and n-grams where a mask of the configuration needs them; n-grams are kept beside the store.

    What is `known`, because another text was trained on, is not counted here.
    """
    learnt = dict(known or {})
    if "token_counts" not in learnt:
        learnt["token_counts"] = _token_counts(store, held_out)
    for key in MASKS:
        settings = _settings(config, key)
        if "ngrams" in needs_of(settings) and _ngrams_name(key) not in learnt:
            learnt[_ngrams_name(key)] = _ngrams(settings, config, store, training, vocabulary)
    return learnt


def make_mask(config: DictConfig, key: str, *, store: Store, vocabulary: Vocabulary, learnt: Learnt) -> Any:
    """The mask that `config.<key>` names."""
    settings = _settings(config, key)
    given: dict[str, Any] = {"vocabulary": vocabulary, "counts": learnt["token_counts"]}
    if getattr(settings, "never", ()):
        given["never"] = never_ids(settings.never, store)
    if getattr(settings, "scheduled", False) and settings.schedule_steps is None:
        given["schedule_steps"] = OmegaConf.select(config, "budget.steps")
    if "units" in needs_of(settings):
        given["unit_types"] = _build(config, "words").unit_types
    if "ngrams" in needs_of(settings):
        given["ngrams"] = learnt[_ngrams_name(key)]
    return _build(config, key, **given)


def needs_of(part: Any) -> frozenset[str]:
    """What a mask or a noise asks for; nothing where it does not say."""
    return frozenset(getattr(part, "needs", ()))


def masked_vocabulary(mask: Any, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary as a mask sees it: what it never selects counts as special, so that shares are measured right."""
    never = np.zeros(vocabulary.size, bool)
    never[list(getattr(mask, "never", ()))] = True
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


def _ngrams(
    settings: Any, config: DictConfig, store: Store, training: Sequence[Documents], vocabulary: Vocabulary
) -> np.ndarray:
    asked = settings.max_ngram, settings.min_count, settings.max_ngrams, settings.min_score, config.eval.fraction
    digest = key_of("ngrams", *map(str, asked))
    path = store.folder / f"ngrams-{int(digest):016x}.npy"
    if path.is_file():
        return np.load(path)
    begun = time.perf_counter()
    found = settings.count(store.shards, training, special=vocabulary.special)
    log.info(f"{len(found):,} n-grams of words belong together in this text ({time.perf_counter() - begun:.1f} s)")
    if not found.shape[0]:
        raise ConfigError(
            f"mask=pmi: no n-gram of the text occurs mask.min_count={settings.min_count} times and has "
            f"mask.min_score={settings.min_score:g}. Write a smaller one of these, or mask=whole_word"
        )
    handle, temporary = tempfile.mkstemp(dir=store.folder, suffix=".npy")
    with os.fdopen(handle, "wb") as file:
        np.save(file, found)
    Path(temporary).replace(path)
    return found


def _ngrams_name(key: str) -> str:
    return f"{key.replace('.', '_')}_ngrams"


def _settings(config: DictConfig, key: str) -> Any:
    """The mask without what it is given: its settings and facts."""
    return _build(config, key)


def _build(config: DictConfig, key: str, **given: Any) -> Any:
    return build(config, key, plugins=tuple(config.get("plugins") or ()), **given)
