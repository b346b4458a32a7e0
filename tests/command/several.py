"""Three small tasks of different kinds for one encoder."""

from pathlib import Path

from ptcli.cli import main
from tests.command.reviews import MARKS, reviews, text

NAMES = ("notes", "numbers", "tags")
TASKS = "task=[notes:classification,numbers:regression,tags:token_classification]"
SETTINGS = [
    "max_length=32",
    "batch.size=8",
    "budget.epochs=5",
    "optimizer.learning_rate=5e-3",
    "log.every=5",
    "trainer.precision=fp32",
    "trainer.threads=1",
]


def rows(folder: Path) -> Path:
    """notes: is a mark good or bad; numbers: the same as 0 and 1; tags: which word is a mark."""
    reviews(folder / "notes", train=44)
    for name, first, number in (("train", 0, 30), ("dev", 1000, 10)):
        numbers = [f"{text(i)}\t{float(i % 2)}" for i in range(first, first + number)]
        _write(folder / "numbers" / f"{name}.tsv", "\n".join(["text\tlabel", *numbers]))
        words = [text(i).split() for i in range(first, first + number)]
        tagged = ["\n".join(f"{w}\t{'B-MARK' if w in MARKS else 'O'}" for w in each) for each in words]
        _write(folder / "tags" / f"{name}.conll", "\n\n".join(tagged))
    return folder


def finetune(base: Path, folder: Path, runs: Path, *words: str, tasks: str = TASKS) -> int:
    """`ptcli finetune` of the three into runs/joint."""
    paths = [f"task.members.{name}.path={folder / name}" for name in NAMES]
    given = [f"checkpoint={base}", tasks, *paths, f"run.dir={runs}", "run.name=joint"]
    return main(["finetune", *given, *SETTINGS, *words])


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content + "\n", encoding="utf-8")
