"""The parts that several commands put together from a configuration: text, data, model, evaluation."""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from ptcli.cache import cache_folder
from ptcli.command.masking import Learnt, learn, make_mask, masked_vocabulary
from ptcli.config.build import build
from ptcli.config.phases import configuration_of, phases_of
from ptcli.corpus.stream import head_of, stream_of
from ptcli.store.documents import Documents
from ptcli.store.prepare import prepare
from ptcli.store.store import Store
from ptcli.store.window import TokenStream
from ptcli.tokenizer.token_texts import TokenTexts
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ptcli.batch.loader import Loader

log = logging.getLogger(__name__)


def plugins_of(config: DictConfig) -> tuple[str, ...]:
    """The user's packages whose classes may be built."""
    return tuple(config.get("plugins") or ())


def part(config: DictConfig, key: str, **given: Any) -> Any:
    """The object that a key of the configuration names."""
    return build(config, key, plugins=plugins_of(config), **given)


def read_corpus(config: DictConfig) -> tuple[Any, Any, Any]:
    """Corpus, words and the recipe of the tokenizer, checked: what is absent is said before anything is read."""
    parts = part(config, "corpus"), part(config, "words"), part(config, "tokenizer")
    for one in parts:
        one.check()
    return parts


def check_parts(config: DictConfig, *, vocab_size: int = 8) -> Any:
    """Build every part that needs no text, so that a value out of its range is told before any work is done.

    The trained whole is returned: it lies on the meta device, so that the largest model takes no memory.
    """
    import torch

    for key in ("mask", "eval.mask", "packing", "schedule", "trainer"):
        part(config, key)
    for phase in phases_of(config):
        for key in ("mask", "packing"):
            part(configuration_of(config, phase), key)
    with torch.device("meta"):
        step = make_model(config, vocab_size, part(config, "pair"))
    part(config, "optimizer", module=step)
    return step


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


@dataclass(frozen=True)
class Data:
    """A store and what feeds rows from it."""

    store: Store
    vocabulary: Vocabulary
    training: list[Documents]
    held_out: list[Documents]
    pair: Any
    packing: Any
    mask: Any
    learnt: Learnt  # what masks and baselines know of the training text


def make_data(config: DictConfig, store: Store, vocabulary: Vocabulary, learnt: Learnt | None = None) -> Data:
    """Split the store and build pair, packing and mask; `learnt` is given where another text was trained on."""
    training, held_out = store.split(config.eval.fraction)
    pair, packing = part(config, "pair"), part(config, "packing")
    learnt = learn(config, store, training=training, held_out=held_out, vocabulary=vocabulary, known=learnt)
    mask = make_mask(config, "mask", store=store, vocabulary=vocabulary, learnt=learnt)
    return Data(store, vocabulary, training, held_out, pair, packing, mask, learnt)


def make_model(config: DictConfig, vocab_size: int, pair: Any) -> Any:
    """The trained whole: a model and its objective."""
    from ptcli.trainer.step import TrainingStep

    model = part(config, "model", vocab_size=vocab_size)
    return TrainingStep(model, part(config, "objective", model=model, pair=pair))


def training_loader(
    config: DictConfig,
    data: Data,
    *,
    micro_size: int,
    static_length: bool,
    group_size: int | None = None,
    rank: int = 0,
    ranks: int = 1,
) -> "Loader":
    """Feeds training: of `ranks` processes, number `rank`."""
    from ptcli.batch.loader import Loader  # torch: `ptcli prepare` does without
    from ptcli.batch.stream import StreamLoader

    data.pair.check_documents(data.training)
    settings = {
        "shards": data.store.shards,
        "documents": data.training,
        "packing": data.packing,
        "pair": data.pair,
        "mask": data.mask,
        "vocabulary": masked_vocabulary(data.mask, data.vocabulary),
        "max_length": config.max_length,
        "batch_size": config.batch.size,
        "micro_size": micro_size,
        "seed": config.seed,
        "static_length": static_length and not config.batch.group_by_length,
        "group_by_length": config.batch.group_by_length,
        "group_size": group_size,
        "rank": rank,
        "ranks": ranks,
    }
    if not OmegaConf.select(config, "corpus.streaming", default=False):
        return Loader(**settings)
    stream = TokenStream(
        stream_of(part(config, "corpus")),
        words=part(config, "words"),
        tokenizer=data.store.tokenizer(),
        first_shard=len(data.store.shards),
    )
    return StreamLoader(stream=stream, **settings)


def make_evaluation(config: DictConfig, data: Data, *, counts: Any, micro_size: int) -> Any:
    """The held-out documents under the fixed mask and under the training's own; None where nothing is held out."""
    from ptcli.batch.loader import Loader
    from ptcli.evaluation.held_out import Evaluation
    from ptcli.packing.best_fit import BestFit
    from ptcli.pair.none import NoPair

    if not any(len(documents.ranges) for documents in data.held_out):
        return None
    shared = {
        "shards": data.store.shards,
        "documents": data.held_out,
        "vocabulary": data.vocabulary,
        "batch_size": micro_size,
        "micro_size": micro_size,
    }
    # Rows, mask and seed of the fixed evaluation are no setting's: what it measures compares over runs.
    fixed = Loader(
        packing=BestFit(),
        pair=NoPair(),
        mask=make_mask(config, "eval.mask", store=data.store, vocabulary=data.vocabulary, learnt=data.learnt),
        max_length=min(config.eval.max_length, OmegaConf.select(config, "max_length") or config.eval.max_length),
        seed=0,
        **shared,
    )
    own = Loader(packing=data.packing, pair=data.pair, mask=data.mask, max_length=config.max_length, seed=0, **shared)
    return Evaluation(
        fixed=fixed,
        own=own,
        max_tokens=config.eval.tokens,
        counts=counts,
        replace=list(data.mask.shown),
        unrelated=data.mask.unrelated(counts),
        vocabulary=data.vocabulary,
        num_characters=TokenTexts(data.store.tokenizer()).num_characters,
    )
