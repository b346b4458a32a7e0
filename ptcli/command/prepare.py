"""`ptcli prepare`: tokenise a corpus once, and say what is in it."""

import time
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from ptcli.command.assemble import make_data, prepare_text, training_loader
from ptcli.command.pretrain import packing_remarks
from ptcli.config.context import Context


def run(config: DictConfig, context: Context) -> None:
    """Make or find the store, and print counts, shares and what the chosen packing and pair make of it."""
    begun = time.perf_counter()
    store = prepare_text(config)
    seconds = time.perf_counter() - begun
    vocabulary = store.tokenizer().vocabulary
    data = make_data(config, store, vocabulary)
    loader = training_loader(config, data, micro_size=config.batch.size, static_length=False)
    epoch = loader.epoch(0)
    counts = store.manifest["counts"]
    size = sum(file.stat().st_size for file in Path(store.folder).rglob("*") if file.is_file())
    rows = {
        "documents": f"{counts['documents']:,}",
        "of one sentence": _share(counts["one_sentence_documents"], counts["documents"]),
        "sentences": f"{counts['sentences']:,}",
        "words": f"{counts['words']:,}",
        "unaligned words": _share(counts["unaligned_words"], counts["words"]),
        "characters": f"{counts['characters']:,}",
        "tokens": f"{counts['tokens']:,} ({counts['characters'] / max(counts['tokens'], 1):.2f} characters each)",
        "unknown tokens": _share(counts["unknown_tokens"], counts["tokens"]),
        "vocabulary": f"{vocabulary.size:,}",
        "held out": store.split_remark(config.eval.fraction),
        "rows an epoch": f"{epoch.num_rows:,} of {config.max_length}, "
        f"{epoch.counts['tokens'] / (epoch.num_rows * config.max_length):.1%} full{packing_remarks(epoch.counts)}",
        "on disk": f"{size / 1e6:,.1f} MB in {store.folder}",
        "seconds": f"{seconds:.1f} now, {store.manifest['seconds']:.1f} when it was made",
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    Console(highlight=False, soft_wrap=True).print(table)


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / max(whole, 1):.2%})"
