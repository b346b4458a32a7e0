"""The job of a competition on anonymised ids, from raw rows to a file of probabilities and its AUC.

    python studies/competition.py --folder WORK --pairs DATA/tasks/zh/pawsx/dev_2k.tsv

Rows `id id id<TAB>id id id<TAB>label` are made of sentence pairs (a header, then id, sentence, sentence, label) by
putting a random number in place of each character. A model reads all rows, those to predict among them but not their
labels; it is fine-tuned on four fifths of them, and answers the others in their order. All of it is done by ptcli's own
commands, which are printed. Typed again, it goes on where it stopped.
"""

import argparse
import csv
import random
from pathlib import Path

from commands import ptcli
from sklearn.metrics import roc_auc_score


def main() -> None:
    """Make the rows, run the three commands, and print the AUC."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where rows and runs are kept")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--size", default="tiny", help="of the model")
    parser.add_argument("--epochs", type=float, default=100, help="of pretraining")
    parser.add_argument("--fine-tuning-epochs", type=float, default=10)
    parser.add_argument("--rate", type=float, default=5e-4, help="the learning rate of fine-tuning")
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3, 4], help="of fine-tuning; not 1, pretraining's")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    rows = folder / "rows"
    truth = anonymise(arguments.pairs, rows)
    print(f"{len(truth):,} rows to predict, {sum(truth) / len(truth):.1%} of them with label 1")
    # few rows, little time: rotary positions and a high rate, so that it looks at neighbours after some minutes
    ptcli("pretrain", "recipe=competition", "model=demo", f"model/size={arguments.size}", "optimizer=demo",
          f"corpus.path={rows}", f"budget.epochs={arguments.epochs}", f"run.dir={folder}", "run.name=ids")  # fmt: skip
    for name, random_weights in (("pretrained", "false"), ("random_weights", "true")):
        runs = [folder / f"{name}-{seed}" for seed in arguments.seeds]
        for run, seed in zip(runs, arguments.seeds, strict=True):
            ptcli("finetune", f"checkpoint={folder / 'ids'}", "task=competition", f"task.path={rows / 'train.tsv'}",
                  f"random_weights={random_weights}", f"seed={seed}", f"optimizer.learning_rate={arguments.rate}",
                  f"budget.epochs={arguments.fine_tuning_epochs}", "max_length=100",
                  f"run.dir={folder}", f"run.name={run.name}")  # fmt: skip
        each = [auc(truth, rows / "test.tsv", folder / f"{run.name}.txt", f"checkpoint={run}") for run in runs]
        models = ",".join(map(str, runs))
        together = auc(truth, rows / "test.tsv", folder / f"{name}.txt", f"checkpoint=[{models}]")
        told = " ".join(f"{value:.3f}" for value in each)
        print(f"{name}: AUC {told}; together, by the mean of their logits, {together:.3f}", flush=True)


def auc(truth: list[int], rows: Path, answers: Path, checkpoint: str) -> float:
    """Let a model, or several together, answer the rows; the AUC of the file that it writes."""
    ptcli("predict", checkpoint, f"input={rows}", f"output={answers}", "format=submission")
    scores = [float(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    assert len(scores) == len(truth), f"{len(scores)} answers for {len(truth)} rows"
    return float(roc_auc_score(truth, scores))


def anonymise(pairs: Path, folder: Path) -> list[int]:
    """Write train.tsv with labels and test.tsv without; the labels of the latter, in order."""
    with open(pairs, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    numbers = random.Random(1).sample(range(100_000), 20_000)
    known: dict[str, str] = {}

    def ids(text: str) -> str:
        return " ".join(known.setdefault(sign, str(numbers[len(known)])) for sign in text if not sign.isspace())

    lines = [f"{ids(first)}\t{ids(second)}" for _, first, second, _ in rows]
    labels = [label for *_, label in rows]
    first = len(rows) * 4 // 5
    folder.mkdir(parents=True, exist_ok=True)
    training = "".join(f"{line}\t{label}\n" for line, label in zip(lines[:first], labels[:first], strict=True))
    (folder / "train.tsv").write_text(training, encoding="utf-8")
    (folder / "test.tsv").write_text("".join(f"{line}\n" for line in lines[first:]), encoding="utf-8")
    return [int(label) for label in labels[first:]]


if __name__ == "__main__":
    main()
