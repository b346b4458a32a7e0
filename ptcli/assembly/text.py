"""Text: the corpus that a configuration names, tokenised and stored."""

import logging
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.cache import cache_folder
from ptcli.corpus.stream import head_of
from ptcli.store.prepare import prepare
from ptcli.store.store import Store
from ptcli.tokenizer.tokenizer import Tokenizer

log = logging.getLogger(__name__)


def read_corpus(config: DictConfig) -> tuple[Any, Any, Any]:
    """Corpus, words and the recipe of the tokenizer, checked: what is absent is said before anything is read."""
    parts = part(config, "corpus"), part(config, "words"), part(config, "tokenizer")
    for one in parts:
        one.check()
    return parts


def prepare_text(config: DictConfig, *, tokenizer: Tokenizer | None = None) -> Store:
    """The tokenised corpus, found or made; its remarks are told. `tokenizer` replaces the configured one."""
    corpus, words, tokenizer = text_parts(config, tokenizer=tokenizer)
    store = prepare(corpus, words, tokenizer, **preparation(config))
    for remark in dict.fromkeys(store.manifest["remarks"]):
        log.info(remark)
    return store


def text_parts(config: DictConfig, *, tokenizer: Tokenizer | None = None) -> tuple[Any, Any, Tokenizer]:
    """Corpus (of a stream, its head), words and the tokenizer, found or trained; its remarks are told."""
    corpus, words, recipe = read_corpus(config)
    corpus = head_of(corpus)
    if tokenizer is None:
        tokenizer = recipe.build(corpus, cache=cache_folder() / "tokenizers")
        for remark in dict.fromkeys(recipe.remarks()):
            log.info(remark)
    assert tokenizer is not None
    return corpus, words, tokenizer


def preparation(config: DictConfig) -> dict[str, Any]:
    """Where stores lie and how many processes make one."""
    return {"folder": cache_folder() / "stores", "workers": OmegaConf.select(config, "prepare.workers") or 1}
