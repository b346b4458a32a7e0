"""From rows to a loss and back to predictions, for every kind: what the loader counts is what the objective counts."""

from itertools import islice

import pytest
import torch

from ptcli.batch.task_loader import TaskLoader
from ptcli.task.classification import Classification
from ptcli.task.extractive_qa import ExtractiveQA
from ptcli.task.multi_label import MultiLabel
from ptcli.task.multiple_choice import MultipleChoice
from ptcli.task.outputs import outputs_of
from ptcli.task.pair_classification import PairClassification
from ptcli.task.ranking import Ranking
from ptcli.task.regression import Regression
from ptcli.task.rows import Answer, Row
from ptcli.task.token_classification import TokenClassification
from tests.model.build import encoder
from tests.task.batches import step_of
from tests.task.words import KNOWN, letters

CPU = torch.device("cpu")


def texts(number: int, *, start: int) -> str:
    """Some words, others and more of them for each number."""
    return " ".join(KNOWN[(number + start + place) % len(KNOWN)] for place in range(1 + number % 4))


def row(number: int, **values) -> Row:
    both = (texts(number, start=0), texts(number, start=3))
    return Row(index=number, source=f"rows:{number}", **{"texts": both, **values})


def spans(number: int) -> Row:
    context = " ".join(KNOWN[(number + place) % len(KNOWN)] for place in range(5))
    word = context.split()[number % 5]
    return row(number, texts=("who", context), label=() if number % 4 == 0 else (Answer(word, context.index(word)),))


def words(number: int) -> Row:
    own = tuple(texts(number, start=0).split())
    return row(number, texts=(), words=own, label=tuple("B" if word == "cat" else "O" for word in own))


KINDS = {
    "classification": (Classification(), [row(n, texts=(texts(n, start=0),), label="ab"[n % 2]) for n in range(20)]),
    "pair": (PairClassification(swap_pairs=True), [row(n, label="abc"[n % 3]) for n in range(20)]),
    "apart": (PairClassification(apart=True), [row(n, label="abc"[n % 3]) for n in range(20)]),
    "regression": (Regression(pair="pair"), [row(n, label=n / 4) for n in range(20)]),
    "multi_label": (MultiLabel(pair="pair"), [row(n, label=("a", "b")[: n % 3]) for n in range(20)]),
    "tokens": (TokenClassification(), [words(n) for n in range(20)]),
    "span": (ExtractiveQA(no_answer=True), [spans(n) for n in range(20)]),
    "choice": (
        MultipleChoice(),
        [row(n, texts=("who",), choices=("the cat", "dog", "mat")[: 2 + n % 2], label=n % 2) for n in range(20)],
    ),
    "ranking": (Ranking(), [row(n, texts=(KNOWN[n // 3], texts(n, start=1)), label=float(n % 3)) for n in range(20)]),
}


@pytest.fixture(params=KINDS)
def kind(request):
    task, rows = KINDS[request.param]
    labels = task.collect_labels({"train": rows})
    encoded = [task.encode(some, tokenizer=letters(), max_length=16, labels=labels) for some in task.versions(rows)]
    return task, rows, labels, encoded


def objective(task, labels):
    torch.manual_seed(0)
    return step_of(
        task.target, model=encoder(vocab_size=letters().vocabulary.size), num_labels=len(labels) or 1, apart=task.apart
    )


def loader(encoded, **changes) -> TaskLoader:
    settings = {"isolates": True, "longest_row": None, "max_length": 16, "batch_size": 8, "micro_size": 4, "seed": 1}
    return TaskLoader(encoded, vocabulary=letters().vocabulary, **(settings | changes))


def test_counts_and_losses_are_the_same_packed_and_apart(kind):
    task, _, labels, encoded = kind
    step = objective(task, labels).eval()
    for packed, apart in zip(
        islice(loader(encoded).steps(), 3), islice(loader(encoded, isolates=False).steps(), 3), strict=True
    ):
        losses = []
        for fed in (packed, apart):
            found = [step.objective(step.model, batch) for batch in fed.micro_batches]
            assert sum(int(loss.counts["task"]) for loss in found) == fed.counts["scored"]
            losses.append(sum(loss.sums["task"] for loss in found))
        torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-5)


def test_answers_come_back_in_the_order_of_the_rows(kind):
    task, rows, labels, encoded = kind
    step = objective(task, labels)
    found = []
    for micro_size, isolates in ((20, True), (3, False)):
        batches = loader(encoded[:1], isolates=isolates, micro_size=micro_size).once()
        outputs = outputs_of(
            step,
            batches,
            encoded[0],
            target=task.target,
            device=CPU,
            autocast=lambda: torch.autocast("cpu", enabled=False),
        )
        found.append(task.decode(outputs, encoded[0], rows, labels=labels))
    assert len(found[0]) == len(rows)
    for one, other in zip(*found, strict=True):
        assert one.keys() == other.keys()
        assert [v for v in one.values() if isinstance(v, str)] == [v for v in other.values() if isinstance(v, str)]
    assert set(task.score(found[0], rows, labels=labels)) == set(task.metrics)
