"""Task batches without a tokenizer, and a small model under an objective."""

from functools import partial

import torch

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.head.linear import LinearHead
from ptcli.task.objective import TaskObjective
from ptcli.task.pooling import ClassificationToken
from ptcli.trainer.step import TrainingStep

from ..model.build import encoder, random_rows

LENGTHS = [9, 4, 12, 6, 7, 5]
PACKED = [[9, 4], [12], [6, 7, 5]]
"""The same examples, several a row; `alone` has them one a row. Their order is the same."""

HEAD = partial(LinearHead, dropout=0.0)
TARGETS = ("class", "value", "classes", "tokens", "span", "choice", "rank")
POOLED = ("class", "value", "classes", "choice", "rank")


def batch_of(rows: list[list[int]] | None = None, *, target: str = "class") -> dict[str, torch.Tensor]:
    """Examples of these lengths with targets of a kind; ids and targets depend on the examples, not on the rows."""
    rows = PACKED if rows is None else rows
    lengths = [length for row in rows for length in row]
    alone = random_rows([[length] for length in lengths])
    batch = random_rows(rows)
    width = batch["input_ids"].shape[1]
    firsts, real = [], batch["sequence_ids"] > 0
    number = 0
    for r, row in enumerate(rows):
        at = 0
        for length in row:
            batch["input_ids"][r, at : at + length] = alone["input_ids"][number, :length]
            firsts.append(r * width + at)
            at, number = at + length, number + 1
    first = torch.tensor(firsts)
    count = torch.arange(len(firsts))
    size = torch.tensor(lengths)
    batch |= {"example_positions": first, "example_numbers": count, "question_numbers": count // 2}
    second = real & (batch["token_type_ids"] == 1)
    if target == "class":
        batch["example_labels"] = count % 3
    elif target == "value":
        batch["example_labels"] = count.float() / 3
    elif target == "classes":
        batch["example_labels"] = torch.stack((count % 2, count % 3 == 0, count % 5 == 1), 1).float()
    elif target == "tokens":
        places = (batch["position_ids"] % 2 == 1).logical_and(real).flatten().nonzero()[:, 0]
        batch |= {"token_positions": places, "token_labels": batch["input_ids"].flatten()[places] % 3}
    elif target == "span":
        is_first = torch.zeros_like(real).flatten()
        is_first[first] = True
        batch["context_places"] = second | is_first.view_as(second)
        batch |= {"span_starts": first + size // 2, "span_ends": first + size - 1}
        batch["span_starts"][1] = batch["span_ends"][1] = first[1]  # no answer
    elif target == "choice":
        batch["example_labels"] = (count % 2 == count // 2 % 2).long()
    elif target == "rank":
        batch["example_labels"] = (count % 2).float()
    return batch


def alone(*, target: str = "class") -> dict[str, torch.Tensor]:
    """The examples of `batch_of()`, one a row."""
    return batch_of([[length] for length in LENGTHS], target=target)


def without_labels(batch: dict[str, torch.Tensor], *examples: int) -> dict[str, torch.Tensor]:
    """The batch, some examples unlabelled."""
    labels = batch["example_labels"].clone()
    labels[list(examples)] = float("nan") if labels.is_floating_point() else IGNORE_INDEX
    return batch | {"example_labels": labels}


def step_of(target: str = "class", *, model=None, num_labels: int = 3, **changes) -> TrainingStep:
    """A small BERT with dropout 0 under a task; `changes` are the objective's arguments."""
    model = encoder() if model is None else model
    torch.manual_seed(1)
    arguments = {"head": HEAD, "pooling": ClassificationToken if target in POOLED else None, "num_labels": num_labels}
    return TrainingStep(model, TaskObjective(model=model, target=target, **(arguments | changes)))
