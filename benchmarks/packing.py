"""How fast sentences become rows: every packing with every pair it takes, and rows become batches.

    python benchmarks/packing.py                      # 10 million sentences, in shards of half a million
    python benchmarks/packing.py --sentences 1000000 --max-length 128

Lengths are drawn (lognormal: 12 sentences a document, 25 tokens a sentence, as in web text), tokens too. The first
table is the index of one data epoch over all shards, each combination in a process of its own; `peak` is what it took
beside the sentences themselves. The second is all that happens to a row before the model sees it, by the loader of the
training: its index, reading it from a memory-mapped file in a shuffled order, special tokens, no mask, and laying out a
batch. Seconds are CPU seconds of all threads.
"""

import argparse
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.batch.loader import Loader
from ptcli.config import choices
from ptcli.config.facts import target_of
from ptcli.mask.examples import Masked
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

LAYOUT = Layout((2,), (3,), (3,))
SHARD = 500_000  # sentences: about 12 million tokens, as prepared stores have them


def parts(group):
    """Class of each choice of a group, by name."""
    return {choice.name: target_of(choice) for choice in choices.choices(group) if choice.is_part}


def combinations():
    for packing, packing_class in parts("packing").items():
        for pair, pair_class in parts("pair").items():
            if getattr(pair_class, "segments", 1) <= packing_class.max_segments:
                yield packing, pair


def documents_of(sentences, *, seed=0):
    """Documents of one shard."""
    generator = np.random.default_rng(seed)
    sizes = 1 + generator.lognormal(np.log(12) - 0.5, 1.0, sentences // 6).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    bounds = np.append(bounds[: np.searchsorted(bounds, sentences)], sentences)
    lengths = 1 + generator.lognormal(np.log(24) - 0.18, 0.6, sentences).astype(np.int64)
    return Documents(seed, np.concatenate([[0], np.cumsum(lengths)]), np.stack([bounds[:-1], bounds[1:]], axis=1))


def index_all(packing, pair, shards, max_length, seed=1):
    return [
        packing.index(documents, layout=LAYOUT, pair=pair, max_length=max_length, seed=seed, epoch=0)
        for documents in shards
    ]


def measure_index(packing_name, pair_name, sentences, max_length):
    """Print seconds, rows, fill and peak memory of one combination."""
    packing, pair = parts("packing")[packing_name](), parts("pair")[pair_name]()
    index_all(packing, pair, [documents_of(2000)], max_length)  # compiles, or loads what is compiled
    shards = [documents_of(min(SHARD, sentences - at), seed=n) for n, at in enumerate(range(0, sentences, SHARD))]
    before = peak_bytes()
    begun = time.process_time()
    indexes = index_all(packing, pair, shards, max_length)
    seconds = time.process_time() - begun
    held = sum(
        getattr(index, name).nbytes
        for index in indexes
        for name in index.__slots__
        if hasattr(getattr(index, name), "nbytes")
    )
    rows = sum(index.num_rows for index in indexes)
    fill = sum(index.counts["tokens"] for index in indexes) / (rows * max_length)
    print(
        f"{packing_name:<15} {pair_name:<18} {seconds:7.2f} s {rows:>11,} rows {fill:7.1%} full "
        f"{held / 1e6:7.0f} MB held {(peak_bytes() - before) / 1e6:7.0f} MB peak",
        flush=True,
    )


def measure_batches(tokens, max_length, batch_tokens):
    """Print million tokens a second, from documents to the batches of a loader, for each packing."""
    documents = [
        documents_of(min(SHARD, tokens // 25 - at), seed=n) for n, at in enumerate(range(0, tokens // 25, SHARD))
    ]
    special = np.zeros(30_000, bool)
    special[:5] = True
    with tempfile.TemporaryDirectory() as folder:
        shards = [Shard(Path(folder) / str(d.shard), int(d.sentence_offsets[-1])) for d in documents]
        for packing_name, pair_name in combinations():
            if pair_name not in ("none", "next_sentence"):
                continue
            packing = parts("packing")[packing_name]()
            rows, best = 64, (float("inf"), 0.0, 0, [])
            for turn in range(4):  # the first compiles, and brings the files into memory; the best of the others counts
                loader = Loader(
                    shards=shards,
                    documents=documents,
                    packing=packing,
                    pair=parts("pair")[pair_name](),
                    mask=Nothing(),
                    vocabulary=Vocabulary(30_000, 0, 4, 2, 3, 1, special, LAYOUT),
                    max_length=max_length,
                    batch_size=rows,
                    micro_size=rows,
                    seed=1,
                    group_by_length=not getattr(packing, "fills_rows", False),
                )
                begun = time.process_time()
                epoch = loader.epoch(0)
                indexed = time.process_time() - begun
                steps = loader.steps()
                taken = list(map(_counts, itertools.islice(steps, epoch.num_rows // rows)))
                steps.close()
                if turn:
                    best = min(best, (time.process_time() - begun, indexed, rows, taken), key=lambda one: one[0])
                rows = max(1, round(batch_tokens * epoch.num_rows / epoch.counts["tokens"]))
            seconds, indexed, rows, taken = best
            count, positions = (sum(counts[name] for counts in taken) for name in ("tokens", "positions"))
            print(
                f"{packing_name:<15} {pair_name:<14} {count / seconds / 1e6:6.1f} M tokens/s "
                f"({rows:>5,} rows a batch, {count / positions:6.1%} full; index {indexed:.2f} s, "
                f"read and lay out {seconds - indexed:.2f} s)",
                flush=True,
            )


class Nothing:
    """A mask that hides nothing and takes no time."""

    def data_epoch(self, epoch):
        return epoch

    def ratio_at(self, step):
        return 0.0

    def __call__(self, examples, *, seed, epoch, step=0):
        size = examples.tokens.shape[0]
        nowhere = np.zeros(size, np.uint8)
        return Masked(examples.tokens, np.full(size, IGNORE_INDEX, np.int32), nowhere, nowhere.astype(bool))


class Shard:
    """Drawn tokens in memory-mapped files."""

    units = None

    def __init__(self, path, num_tokens):
        generator = np.random.default_rng(0)
        np.save(f"{path}-tokens.npy", generator.integers(5, 30_000, num_tokens).astype(np.uint16))
        np.save(f"{path}-words.npy", generator.integers(0, 256, num_tokens // 8 + 1).astype(np.uint8))
        self.tokens = np.load(f"{path}-tokens.npy", mmap_mode="r")
        self.word_starts = np.load(f"{path}-words.npy", mmap_mode="r")


def _counts(step):
    return step.counts


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=10_000_000)
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--max-length", type=int, default=512)
    parser.add_argument("--batch-tokens", type=int, default=65_536, help="of a micro-batch, about")
    parser.add_argument("--only", nargs=2, metavar=("PACKING", "PAIR"), help="one combination, in this process")
    arguments = parser.parse_args()
    if arguments.only:
        measure_index(*arguments.only, arguments.sentences, arguments.max_length)
        return
    print(f"{arguments.sentences:,} sentences to rows of {arguments.max_length}, CPU seconds", flush=True)
    settings = ["--sentences", str(arguments.sentences), "--max-length", str(arguments.max_length)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    for packing, pair in combinations():
        command = [sys.executable, __file__, "--only", packing, pair, *settings]
        subprocess.run(command, check=True, env=one_thread)
    print(f"\n{arguments.tokens:,} tokens to batches of about {arguments.batch_tokens:,} tokens", flush=True)
    measure_batches(arguments.tokens, arguments.max_length, arguments.batch_tokens)


if __name__ == "__main__":
    main()
