"""A pretrained run and a small task on which the fine-tuning commands end in seconds."""

from pathlib import Path

from ptcli.cli import main
from tests.command.toy import WORDS, run_folder, settings

SETTINGS = [
    "max_length=32",
    "batch.size=8",
    "budget.epochs=12",
    "eval.every=0.5",
    "optimizer.learning_rate=5e-3",
    "log.every=5",
    "trainer.precision=fp32",
    "trainer.threads=1",
]
MARKS = ("roof", "rain")  # the word that tells bad from good


def pretrained(folder: Path, *words: str) -> Path:
    """A run of two steps."""
    assert main(["pretrain", *settings(folder, "budget.steps=2", "eval.every=0", *words)]) == 0
    return run_folder(folder)


def text(number: int) -> str:
    """A row's text: words of the corpus, and one that decides."""
    plain = [word for word in WORDS if word not in MARKS]
    words = [plain[(number * 7 + step * 3) % len(plain)] for step in range(4 + number % 5)]
    return " ".join([*words[: number % 4], MARKS[number % 2], *words[number % 4 :]])


def reviews(folder: Path, *, train: int = 40, dev: int = 12) -> Path:
    """train.tsv and dev.tsv with a label a row, and test.tsv without."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, first, number in (("train", 0, train), ("dev", 1000, dev), ("test", 2000, dev)):
        rows = [f"{text(i)}\t{('bad', 'good')[i % 2]}" for i in range(first, first + number)]
        rows = [row.split("\t")[0] for row in rows] if name == "test" else rows
        head = "text" if name == "test" else "text\tlabel"
        (folder / f"{name}.tsv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return folder


def finetune(base: Path, rows: Path, runs: Path, *words: str, task: str = "classification") -> int:
    """`ptcli finetune` into runs/tuned."""
    given = [f"checkpoint={base}", f"task={task}", f"task.path={rows}", f"run.dir={runs}", "run.name=tuned"]
    return main(["finetune", *given, *SETTINGS, *words])
