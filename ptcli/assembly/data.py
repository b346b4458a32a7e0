"""What feeds training: the store split in two, pair, packing and mask, and the loader over them."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.masking import Learnt, learn, make_mask, masked_vocabulary
from ptcli.assembly.parts import part
from ptcli.corpus.stream import stream_of
from ptcli.store.documents import Documents
from ptcli.store.store import Store
from ptcli.store.window import TokenStream
from ptcli.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ptcli.batch.loader import Loader


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
    noises: dict[str, Any]  # what else changes the text or asks about it, by the name of what asks


def make_data(config: DictConfig, store: Store, vocabulary: Vocabulary, learnt: Learnt | None = None) -> Data:
    """Split the store and build pair, packing and mask; `learnt` is given where another text was trained on."""
    training, held_out = store.split(config.eval.fraction)
    pair, packing = part(config, "pair"), part(config, "packing")
    learnt = learn(config, store, training=training, held_out=held_out, vocabulary=vocabulary, known=learnt)
    mask = make_mask(config, "mask", store=store, vocabulary=vocabulary, learnt=learnt)
    return Data(store, vocabulary, training, held_out, pair, packing, mask, learnt, make_noises(config))


def make_noises(config: DictConfig) -> dict[str, Any]:
    """What the auxiliary losses ask about, made on the words side, by their names."""
    asking = config.get("auxiliary") or {}
    return {name: part(config, f"auxiliary.{name}.noise") for name in asking if asking[name].get("noise") is not None}


def training_loader(
    config: DictConfig,
    data: Data,
    *,
    model: Any,
    micro_size: int,
    static_length: bool,
    group_size: int | None = None,
    rank: int = 0,
    ranks: int = 1,
) -> "Loader":
    """Feeds the training of `model`: of `ranks` processes, number `rank`."""
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
        "noises": data.noises,
        "isolates": model.isolates,
        "longest_row": model.longest_row,
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


def row_facts(config: DictConfig, store: Store, vocabulary: Vocabulary, *, isolates: bool = True) -> dict[str, Any]:
    """What the first data epoch is made of, for a model that keeps the examples of a row apart or does not."""
    training, held_out = store.split(config.eval.fraction)
    pair, packing = part(config, "pair"), part(config, "packing")
    pair.check_documents(training)
    how = {"pair": pair, "max_length": config.max_length, "seed": config.seed, "epoch": 0}
    counts: Counter[str] = Counter()
    rows = 0
    for documents in training:
        index = packing.index(documents, layout=vocabulary.layout, **how)
        index = index if isolates else index.one_example_a_row()
        counts.update(index.counts)
        rows += index.num_rows
        del index  # before the next one is made
    labels = {name.removeprefix("label_"): n for name, n in counts.items() if name.startswith("label_")}
    return {
        "held_out_tokens": sum(documents.num_tokens for documents in held_out),
        "held_out_remark": store.split_remark(config.eval.fraction),
        "max_length": config.max_length,
        "rows": rows,
        "fill": counts["tokens"] / max(rows * config.max_length, 1),
        "left_out": {name: n for name, n in counts.items() if n and name.split("_")[0] in ("dropped", "skipped")},
        "pair_labels": {name: n / max(sum(labels.values()), 1) for name, n in labels.items()},
    }
