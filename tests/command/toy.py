"""A corpus and settings with which every command ends in about a second."""

import json
import os
import subprocess
import sys
from pathlib import Path

from ptcli.logger.logger import TIMING_FIELDS

TEXT = (
    "the cat saw a dog near the old house and ran to its friend who lived by the river under tall green trees while "
    "rain fell softly on every roof of that small town"
)
WORDS = TEXT.split()


def corpus(folder: Path, *, documents: int = 120) -> Path:
    """A text of made-up documents, three to seven sentences each."""
    lines = []
    for document in range(documents):
        for sentence in range(3 + document % 5):
            begin = (document * 7 + sentence * 3) % len(WORDS)
            words = [WORDS[(begin + step) % len(WORDS)] for step in range(4 + (document + sentence) % 9)]
            lines.append(" ".join(words).capitalize() + ".")
        lines.append("")
    path = folder / "corpus.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


SETTINGS = [
    "tokenizer.vocab_size=120",
    "model/size=tiny",
    "model.num_layers=2",
    "model.hidden_size=32",
    "model.num_heads=2",
    "model.intermediate_size=64",
    "max_length=32",
    "batch.size=4",
    "budget.steps=4",
    "eval.every=2",
    "eval.max_length=32",
    "eval.tokens=300",
    "save.every=2",
    "log.every=1",
    "trainer.precision=fp32",
    "trainer.threads=1",
]


def settings(folder: Path, *more: str) -> list[str]:
    """The words behind `ptcli pretrain` for a run in `folder`."""
    text = folder / "corpus.txt"
    return [
        "corpus=text",
        f"corpus.path={text if text.exists() else corpus(folder)}",
        f"run.dir={folder}/runs",
        *SETTINGS,
        *more,
    ]


def run_folder(folder: Path) -> Path:
    """The only run in `folder`."""
    (path,) = [p for p in (folder / "runs").iterdir() if not p.name.startswith(".")]
    return path


def metrics(run: Path) -> list[dict]:
    """What was logged, without what depends on the clock."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in TIMING_FIELDS} for line in lines]


def start(words: list[str], folder: Path) -> subprocess.Popen:
    """`python -m ptcli WORDS` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "ptcli", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
