"""How fast masks are made, on one core: `python benchmarks/masking.py`.

Made-up text: frequencies as 1 / rank over 30,522 ids, 1.3 tokens a word, a fifth of the words in named units. A whole
batch goes through each mask as it does in training, arrays in, arrays out. With `--peer hf_masking.py --text FILE
--tokenizer DIR`, that script (masks of other projects; a JSON line each) runs on the same core right afterwards.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tracemalloc
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from ptcli.mask.albert_exact import AlbertExactMask
from ptcli.mask.bert_exact import BertExactMask
from ptcli.mask.collocations import collocations
from ptcli.mask.electra_exact import ElectraExactMask
from ptcli.mask.examples import Examples
from ptcli.mask.frequency import FrequencyMask
from ptcli.mask.ngram import NgramMask
from ptcli.mask.phrase import PhraseMask
from ptcli.mask.pmi import PmiMask
from ptcli.mask.roberta_exact import RobertaExactMask
from ptcli.mask.span import SpanMask
from ptcli.mask.spanbert_exact import SpanbertExactMask
from ptcli.mask.token import TokenMask
from ptcli.mask.whole_word import WholeWordMask
from ptcli.store.documents import Documents
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

SIZE = 30_522
PAD, CLS, SEP, MASK, UNK = 0, 101, 102, 103, 100


class Shard:
    """A shard of made-up text."""

    def __init__(self, tokens: np.ndarray, starts: np.ndarray):
        self.tokens, self.word_starts = tokens.astype(np.uint16), np.packbits(starts, bitorder="little")


def vocabulary() -> Vocabulary:
    """Ids as BERT has them."""
    special = np.zeros(SIZE, bool)
    special[:999] = True
    return Vocabulary(SIZE, PAD, MASK, CLS, SEP, UNK, special, Layout((CLS,), (SEP,), (SEP,)))


def text(number: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """So many tokens, and whether each begins a word."""
    ids = np.flatnonzero(~vocabulary().special)
    chances = 1 / np.arange(1, len(ids) + 1)
    return random.choice(ids, number, p=chances / chances.sum()), random.random(number) < 1 / 1.3


def batch(rows: int, length: int, random: np.random.Generator) -> Examples:
    """Examples that fill their rows."""
    tokens, starts = (array.reshape(rows, length) for array in text(rows * length, random))
    maskable = np.ones((rows, length), bool)
    maskable[:, [0, -1]] = False
    tokens[:, 0], tokens[:, -1] = CLS, SEP
    starts[:, [1, -1]] = True
    named = np.repeat(random.random((rows, length // 4)) < 0.2, 4, axis=1) & maskable
    begins = named & ~np.c_[np.zeros(rows, bool), named[:, :-1]]
    return Examples(
        tokens.ravel().astype(np.int32),
        np.arange(rows + 1, dtype=np.int64) * length,
        maskable.ravel(),
        (starts | begins).ravel(),
        random.integers(0, 2**63, rows).astype(np.uint64),
        begins.ravel(),
        named.ravel().astype(np.uint8),
    )


def masks(random: np.random.Generator) -> dict[str, Any]:
    """Every strategy with its defaults."""
    tokens, starts = text(1_000_000, random)
    counts = np.bincount(tokens, minlength=SIZE)
    offsets = np.arange(0, len(tokens) + 1, 20)
    documents = Documents(0, offsets, np.stack((np.arange(len(offsets) - 1), np.arange(1, len(offsets))), axis=1))
    special = vocabulary().special
    ngrams = collocations(
        [Shard(tokens, starts)], [documents], special=special, max_ngram=5, min_count=10, max_ngrams=800_000
    )
    known = {"vocabulary": vocabulary(), "counts": counts}
    return {
        "token": TokenMask(**known),
        "whole_word": WholeWordMask(**known),
        "span": SpanMask(**known),
        "ngram": NgramMask(**known),
        "phrase": PhraseMask(**known),
        "pmi": PmiMask(ngrams=ngrams, **known),
        "frequency": FrequencyMask(**known),
        "bert_exact": BertExactMask(**known),
        "roberta_exact": RobertaExactMask(**known),
        "electra_exact": ElectraExactMask(**known),
        "spanbert_exact": SpanbertExactMask(**known),
        "albert_exact": AlbertExactMask(**known),
    }


def tokens_per_second(mask, batches: list[Examples], seconds: float) -> float:
    """Real tokens, special ones included, by the process's own time; the median of ten stretches."""
    call, rates = 0, []
    for _ in range(10):
        begun, done = time.process_time(), 0
        while time.process_time() - begun < seconds / 10:
            examples = batches[call % len(batches)]
            mask(examples, seed=1, epoch=call // 1000)
            call, done = call + 1, done + len(examples.tokens)
        rates.append(done / (time.process_time() - begun))
    return float(np.median(rates))


def bytes_per_token(mask, examples: Examples) -> float:
    """The most memory that numpy held at once while a batch was masked, a token."""
    tracemalloc.start()
    mask(examples, seed=1, epoch=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / len(examples.tokens)


def main() -> None:
    """Print a Markdown table, then the peer's lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each mask and length")
    parser.add_argument("--only", default="")
    parser.add_argument("--peer")
    parser.add_argument("--text")
    parser.add_argument("--tokenizer")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    random = np.random.default_rng(0)
    lengths = {length: [batch(given.rows, length, random) for _ in range(16)] for length in (128, 512)}
    large = batch(given.rows * 16, 128, random)
    print("| mask | M tokens/s, rows of 128 | rows of 512 | first use, s | bytes a token, batch of 1 | of 16 |")
    print("|---|---|---|---|---|---|")
    for name, mask in masks(random).items():
        if given.only not in name:
            continue
        begun = time.perf_counter()
        mask(lengths[128][0], seed=1, epoch=0)
        first = time.perf_counter() - begun
        rates = [tokens_per_second(mask, batches, given.seconds) / 1e6 for batches in lengths.values()]
        memory = [bytes_per_token(mask, examples) for examples in (lengths[128][0], large)]
        print(
            f"| `{name}` | {rates[0]:.1f} | {rates[1]:.1f} | {first:.2f} | {memory[0]:.0f} | {memory[1]:.0f} |",
            flush=True,
        )
    if given.peer:
        for length in lengths:
            command = [sys.executable, given.peer, "--text", given.text, "--tokenizer", given.tokenizer]
            command += ["--seq", str(length), "--batch", str(given.rows), "--seconds", str(given.seconds)]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            print(f"\nPeers, rows of {length}:\n\n| masker | M tokens/s |\n|---|---|")
            for line in map(json.loads, lines):
                print(f"| {line['masker']} | {line.get('M_tokens_per_cpu_s', line.get('error'))} |", flush=True)


if __name__ == "__main__":
    main()
