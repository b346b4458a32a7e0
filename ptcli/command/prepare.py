"""`ptcli prepare`: tokenise a corpus once, and say what is in it."""

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig

from ptcli.command.pretrain import NO_TASK, PretrainRoot
from ptcli.config.command import Command
from ptcli.config.context import Context

if TYPE_CHECKING:
    from ptcli.store.part import Part
    from ptcli.store.store import Store
    from ptcli.tokenizer.vocabulary import Vocabulary

log = logging.getLogger(__name__)


@dataclass
class PrepareRoot(PretrainRoot):
    """Types of conf/prepare.yaml: what pretrain takes, and how it tells what it made."""

    format: str = MISSING


COMMAND = Command(
    __name__,
    "tokenise a corpus and store it, as pretrain would",
    root=PrepareRoot,
    formats=("table", "json"),
    refuses=NO_TASK,
    # without torch it stays small; ptcli pretrain checks what is typed of these
    unbuilt=("model", "objective", "optimizer", "schedule", "trainer", "logger", "recipe"),
    # it multiplies no matrices; of a process of one thread others can be forked
    environment={"OPENBLAS_NUM_THREADS": "1"},
    examples=(
        "ptcli prepare corpus=text corpus.path=books/ prepare.workers=8          in eight processes",
        "ptcli prepare corpus=text corpus.path=books/ prepare.shard=3/64       one of 64 jobs",
    ),
)


def run(config: DictConfig, context: Context) -> None:
    """Make or find the store, or one part of it; tell its counts and what the chosen packing and pair make of it."""
    from ptcli.assembly.data import row_facts
    from ptcli.assembly.masking import learn
    from ptcli.assembly.text import preparation, text_parts
    from ptcli.store.part import Part
    from ptcli.store.prepare import prepare

    begun = time.perf_counter()
    if config.prepare.shard is not None:
        _run_part(config, Part.read(config.prepare.shard))
        return
    corpus, words, tokenizer = text_parts(config)
    store = prepare(corpus, words, tokenizer, **preparation(config))
    seconds = time.perf_counter() - begun
    vocabulary = tokenizer.vocabulary
    training, held_out = store.split(config.eval.fraction)
    # n-grams, where a mask asks for them; tokens are counted when they are needed, since that reads all of the store
    known = {"token_counts": store.token_counts}
    learn(config, store, training=training, held_out=held_out, vocabulary=vocabulary, known=known)
    facts = {
        **_text_facts(store, vocabulary),
        **row_facts(config, store, vocabulary),
        "seconds": round(seconds, 3),
        "seconds_when_made": store.manifest["seconds"],
    }
    if config.format == "json":
        print(json.dumps(facts, ensure_ascii=False))
    else:
        _print_table(_told(facts))


def _run_part(config: DictConfig, chosen: "Part") -> None:
    from ptcli.assembly.text import preparation, text_parts
    from ptcli.store.prepare import prepare_part

    corpus, words, tokenizer = text_parts(config)
    made = prepare_part(corpus, words, tokenizer, part=chosen, **preparation(config))
    if made is None:
        log.info("the store of this corpus is there already, whole; no part of it is needed")
        return
    facts = {
        "part": str(chosen),
        "shards": len(made.shards),
        **{name: sum(shard[f"num_{name}"] for shard in made.shards) for name in ("documents", "sentences", "tokens")},
        "bytes_on_disk": _size(made.folder),
        "folder": str(made.folder),
        "seconds_when_made": made.seconds,
    }
    if config.format == "json":
        print(json.dumps(facts, ensure_ascii=False))
        return
    told = {name.replace("_", " "): f"{value:,}" if isinstance(value, int) else value for name, value in facts.items()}
    _print_table(told)
    if not made.shards:
        log.info(f"part {chosen} has nothing to do: the corpus makes fewer shards than there are parts")
    log.info("once all parts are there, the same words without prepare.shard make them one store")


def _text_facts(store: "Store", vocabulary: "Vocabulary") -> dict[str, Any]:
    counts = store.manifest["counts"]
    size, seconds = store.manifest["corpus"].get("bytes"), store.manifest["seconds"]
    return {
        **counts,
        "vocab_size": vocabulary.size,
        "unknown_rate": counts["unknown_tokens"] / counts["tokens"],
        "unaligned_rate": counts["unaligned_words"] / max(counts["words"], 1),
        "shards": len(store.shards),
        "bytes_on_disk": _size(store.folder),
        "folder": str(store.folder),
        "megabytes_per_second": None if size is None else size / 1e6 / max(seconds, 1e-3),
        "remarks": store.manifest["remarks"],
    }


def _told(facts: dict[str, Any]) -> dict[str, str]:
    speed = facts["megabytes_per_second"]
    labels = {name.replace("_", " "): share for name, share in facts["pair_labels"].items()}
    rows = {
        "documents": f"{facts['documents']:,}",
        "of one sentence": _share(facts["one_sentence_documents"], facts["documents"]),
        "sentences": f"{facts['sentences']:,}",
        "words": f"{facts['words']:,}",
        "unaligned words": _share(facts["unaligned_words"], facts["words"]),
        "named units": f"{facts['units']:,}" if facts["units"] else "",
        "characters": f"{facts['characters']:,}",
        "tokens": f"{facts['tokens']:,} ({facts['characters'] / facts['tokens']:.2f} characters each)",
        "unknown tokens": _share(facts["unknown_tokens"], facts["tokens"]),
        "vocabulary": f"{facts['vocab_size']:,}",
        "held out": facts["held_out_remark"].removeprefix("held out: "),
        "rows an epoch": f"{facts['rows']:,} of {facts['max_length']}, {facts['fill']:.1%} full",
        "left out": ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in facts["left_out"].items()),
        "pair labels": ", ".join(f"{share:.1%} {name}" for name, share in labels.items()),
        "on disk": f"{facts['bytes_on_disk'] / 1e6:,.1f} MB, {_count(facts['shards'], 'shard')}, in {facts['folder']}",
        "seconds": f"{facts['seconds']:.1f} now, {facts['seconds_when_made']:.1f} when it was made"
        + ("" if speed is None else f" ({speed:.2f} MB of text a second)"),
    }
    return {name: text for name, text in rows.items() if text}


def _print_table(rows: dict[str, Any]) -> None:
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / max(whole, 1):.2%})"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"
