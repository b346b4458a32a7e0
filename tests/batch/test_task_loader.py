"""A task's loader: every example once an epoch, whole questions, the same examples however rows are filled."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
import torch

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.batch.task_loader import TaskLoader
from ptcli.batch.task_rows import num_scored
from ptcli.errors import ConfigError, DataError
from ptcli.task.encoded import Encoded

from .fakes import PAD, vocabulary

LENGTHS = np.random.default_rng(5).integers(3, 17, 45)


def encoded(lengths=LENGTHS, *, questions=None, first=100, **arrays) -> Encoded:
    """Examples of made-up tokens, each of which occurs once; the label of each is its number modulo 3."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    count = len(lengths)
    arrays = arrays or {"example_labels": np.arange(count) % 3}
    return Encoded(
        tokens=np.arange(first, first + offsets[-1], dtype=np.int32),
        offsets=offsets,
        segments=(np.arange(offsets[-1]) % 2).astype(np.uint8),
        row_of_example=np.arange(count),
        question_numbers=questions,
        **arrays,
    )


def loader(*versions: Encoded, **changes) -> TaskLoader:
    settings = {"isolates": True, "longest_row": None, "max_length": 24, "batch_size": 8, "micro_size": 4, "seed": 3}
    return TaskLoader(versions or (encoded(),), vocabulary=vocabulary(), **(settings | changes))


def numbers_of(batches) -> list[int]:
    return [number for batch in batches for number in batch["example_numbers"].tolist()]


def tokens_of(batch, which: int) -> list[int]:
    """The tokens of an example of a batch, found by its sequence id."""
    width = batch["input_ids"].shape[1]
    row, place = divmod(int(batch["example_positions"][which]), width)
    own = batch["sequence_ids"][row] == batch["sequence_ids"][row, place]
    return batch["input_ids"][row][own].tolist()


@pytest.mark.parametrize("changes", [{}, {"isolates": False}, {"group_by_length": True}, {"static_length": True}])
def test_batches_hold_the_examples_as_they_are(changes):
    data = encoded()
    for step in islice(loader(data, **changes).steps(), 7):
        for batch in step.micro_batches:
            for which, number in enumerate(batch["example_numbers"].tolist()):
                expected = data.tokens[data.offsets[number] : data.offsets[number + 1]].tolist()
                assert tokens_of(batch, which) == expected
                assert batch["example_labels"][which] == number % 3
            real = batch["attention_mask"].bool()
            assert (batch["input_ids"][~real] == PAD).all()
            assert (batch["sequence_ids"][~real] == 0).all() and (batch["sequence_ids"][real] > 0).all()
            assert torch.equal(batch["position_ids"].flatten()[batch["example_positions"]], batch["example_labels"] * 0)
            assert torch.equal(batch["token_type_ids"][real], (batch["input_ids"][real] - 100) % 2)
            assert batch["input_ids"].shape[1] <= 24
            assert all(tensor.dtype == torch.int64 for tensor in batch.values())


@pytest.mark.parametrize("changes", [{}, {"isolates": False}, {"group_by_length": True}])
def test_every_example_comes_once_in_an_epoch_also_over_its_end(changes):
    steps = list(islice(loader(**changes).steps(), 45))  # 8 epochs of 45 examples in steps of 8
    seen = [number for step in steps for number in numbers_of(step.micro_batches)]
    for epoch in range(8):
        assert sorted(seen[epoch * 45 : (epoch + 1) * 45]) == list(range(45))
    assert seen[:45] != seen[45:90]
    assert steps[-1].position == {"epoch": 8, "row": 0, "rows": 360}
    assert steps[5].measured["epoch"] == pytest.approx(48 / 45)


def test_packing_changes_rows_and_nothing_else():
    packed, apart = (list(islice(loader(isolates=isolates).steps(), 6)) for isolates in (True, False))
    for one, other in zip(packed, apart, strict=True):
        assert numbers_of(one.micro_batches) == numbers_of(other.micro_batches)
        assert {**one.counts, "positions": 0} == {**other.counts, "positions": 0}
        assert one.counts["positions"] == sum(batch["input_ids"].numel() for batch in one.micro_batches)
    assert sum(b["input_ids"].shape[0] for s in packed for b in s.micro_batches) < 48
    lengths = np.full(64, 6)
    step = next(loader(encoded(lengths), batch_size=32, micro_size=32).steps())
    assert step.measured["fill"] == 1.0
    assert step.micro_batches[0]["input_ids"].shape == (8, 24)


@pytest.mark.parametrize("changes", [{}, {"static_length": True}, {"rank": 1, "ranks": 2}, {"whole_epochs": True}])
def test_a_model_that_mixes_the_positions_of_a_row_has_one_example_in_each(changes):
    data = loader(isolates=False, **changes)
    for batch in [batch for step in islice(data.steps(), 8) for batch in step.micro_batches] + list(data.once()):
        assert len(batch["input_ids"]) == len(batch["example_numbers"])
        assert int(batch["sequence_ids"].max()) == 1


def test_rows_that_a_model_does_not_take_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=24.* 16 positions.*Use max_length=16"):
        loader(longest_row=16)
    assert all(batch["input_ids"].shape[1] <= 16 for batch in loader(longest_row=16, max_length=16).once())


def test_rows_are_as_short_as_they_can_be():
    data = encoded(np.full(32, 20))
    batch = next(loader(data, max_length=128, batch_size=32, micro_size=32).steps()).micro_batches[0]
    assert batch["input_ids"].shape == (6, 120)  # six examples a row at most, five rows do not hold 32
    steps = islice(loader(encoded(np.full(320, 20)), max_length=128, batch_size=24, micro_size=24).steps(), 10)
    assert all(step.measured["fill"] == 1.0 for step in steps)


def test_any_position_goes_on_as_if_nothing_had_happened():
    steps = list(islice(loader().steps(), 12))
    for place in (1, 5, 6, 9):
        again = next(loader().steps(steps[place - 1].position, place))
        assert again.position == steps[place].position
        assert again.counts == steps[place].counts
        for one, other in zip(again.micro_batches, steps[place].micro_batches, strict=True):
            assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_order_is_the_seeds_and_the_epochs():
    one, other = (numbers_of(next(loader(seed=seed).steps()).micro_batches) for seed in (1, 2))
    assert one != other


@pytest.mark.parametrize("changes", [{}, {"group_by_length": True, "group_size": 2}])
def test_ranks_share_a_step_among_them(changes):
    whole = list(islice(loader(micro_size=2, **changes).steps(), 13))
    parts = [list(islice(loader(rank=r, ranks=2, micro_size=2, **changes).steps(), 13)) for r in range(2)]
    for step, *own in zip(whole, *parts, strict=True):
        both = [number for part in own for number in numbers_of(part.micro_batches)]
        assert both == numbers_of(step.micro_batches)
        both = {name: own[0].counts[name] + own[1].counts[name] for name in step.counts}
        assert {**both, "positions": 0} == {**step.counts, "positions": 0}  # rows are packed on each rank
        assert own[0].position == own[1].position == step.position


QUESTIONS = np.array([7, 7, 7, 2, 2, 5, 5, 5, 5, 0, 1, 1])


def test_questions_are_never_divided():
    data = encoded(LENGTHS[:12], questions=QUESTIONS, example_labels=(np.arange(12) == np.array([1] * 12)).astype(int))
    steps = list(islice(loader(data, batch_size=2, micro_size=2).steps(), 10))
    for batch in [batch for step in steps for batch in step.micro_batches]:
        counted = Counter(batch["question_numbers"].tolist())
        assert all(count == (number == QUESTIONS).sum() for number, count in counted.items())
        firsts = batch["question_numbers"].tolist()
        assert firsts == sorted(firsts, key=firsts.index), "a question's examples follow each other"
    assert Counter(numbers_of(b for step in steps for b in step.micro_batches)) == Counter(list(range(12)) * 4)


def test_a_micro_batch_never_holds_a_question_twice():
    """Five questions in steps of four: the last of an epoch and the first of the next are judged apart."""
    data = encoded(LENGTHS[:12], questions=QUESTIONS, example_labels=np.zeros(12, np.int64))
    for step in islice(loader(data, batch_size=4, micro_size=4).steps(), 20):
        for batch in step.micro_batches:
            assert len(set(batch["example_numbers"].tolist())) == len(batch["example_numbers"])


def test_scattered_candidates_are_brought_together():
    data = encoded(LENGTHS[:6], questions=np.array([4, 1, 4, 1, 4, 9]), example_labels=np.zeros(6, np.float32))
    batches = list(loader(data, micro_size=1).once())
    assert [batch["example_numbers"].tolist() for batch in batches] == [[0, 2, 4], [1, 3], [5]]


def test_once_gives_all_in_the_order_of_the_rows():
    batches = list(loader(micro_size=16).once())
    assert numbers_of(batches) == list(range(45))
    assert [len(batch["example_numbers"]) for batch in batches] == [16, 16, 13]
    again = list(loader(micro_size=16, seed=9).once())
    assert all(torch.equal(a[name], b[name]) for a, b in zip(batches, again, strict=True) for name in a)


def test_versions_are_drawn_by_question_and_epoch_and_never_for_once():
    one, other = encoded(), encoded(LENGTHS[::-1], first=5000)
    data = loader(one, other)
    shown: list[list[bool]] = []
    steps = list(islice(data.steps(), 45))
    for step in steps:
        for batch in step.micro_batches:
            for which, number in enumerate(batch["example_numbers"].tolist()):
                tokens = tokens_of(batch, which)
                source = other if tokens[0] >= 5000 else one
                assert tokens == source.tokens[source.offsets[number] : source.offsets[number + 1]].tolist()
                shown.append([tokens[0] >= 5000])
    share = np.mean(shown)
    assert 0.4 < share < 0.6  # 360 draws: 0.5 within 3.8 deviations
    first, second = np.array(shown[:45]).ravel(), np.array(shown[45:90]).ravel()
    assert first.any() and second.any()
    assert all(int(batch["input_ids"].max()) < 5000 for batch in data.once())


def test_texts_apart_stay_side_by_side_with_one_label():
    data = encoded(LENGTHS[:12], questions=np.arange(12) // 2, example_labels=np.arange(6) + 10)
    for step in islice(loader(data, batch_size=2, micro_size=2).steps(), 6):
        (batch,) = step.micro_batches
        numbers = batch["example_numbers"]
        assert torch.equal(numbers[::2] + 1, numbers[1::2])
        assert torch.equal(batch["example_labels"], numbers[::2] // 2 + 10)
        assert step.counts["scored"] == 2 and step.counts["examples"] == 4


def test_words_and_spans_come_to_lie_where_their_tokens_do():
    base = encoded()
    positions = np.flatnonzero(np.arange(len(base.tokens)) % 3 == 1)
    words = encoded(token_positions=positions, token_labels=positions % 5, token_words=np.arange(len(positions)))
    inside = np.minimum(2, LENGTHS - 1)
    spans = encoded(
        span_starts=np.where(np.arange(45) % 4, inside, IGNORE_INDEX),
        span_ends=np.where(np.arange(45) % 4, LENGTHS - 1, IGNORE_INDEX),
        context=np.arange(len(base.tokens)) % 2 == 0,
    )
    for batch in loader(words, micro_size=10).once():
        shown = batch["input_ids"].flatten()[batch["token_positions"]] - 100
        assert torch.equal(shown % 3, torch.ones_like(shown))
        assert torch.equal(batch["token_labels"], shown % 5)
    assert sum(num_scored({k: v.numpy() for k, v in b.items()}) for b in loader(words).once()) == len(positions)
    for batch in loader(spans, micro_size=10).once():
        number = batch["example_numbers"]
        known = batch["span_starts"] != IGNORE_INDEX
        assert torch.equal(known, number % 4 != 0)
        offsets = torch.from_numpy(spans.offsets)
        flat = batch["input_ids"].flatten()
        assert torch.equal(flat[batch["span_starts"][known]] - 100, offsets[number[known]] + 2)
        assert torch.equal(flat[batch["span_ends"][known]] - 100, offsets[number[known] + 1] - 1)
        assert batch["context_places"].dtype == torch.bool
        real = batch["attention_mask"].bool()
        assert torch.equal(batch["context_places"][real], batch["input_ids"][real] % 2 == 0)
        assert not batch["context_places"][~real].any()


def test_what_classifies_may_stand_last():
    data = encoded()
    data = Encoded(data.tokens, data.offsets, data.segments, data.row_of_example, classify_last=True)
    for batch in loader(Encoded(**{**_fields(data), "example_labels": np.zeros(45, np.int64)})).once():
        shown = batch["input_ids"].flatten()[batch["example_positions"]]
        assert torch.equal(
            shown, torch.from_numpy(data.tokens[data.classification_places]).long()[batch["example_numbers"]]
        )


@pytest.mark.parametrize(
    ("labels", "questions", "scored"),
    [
        (np.array([1, IGNORE_INDEX, 0, 2]), None, 3),
        (np.array([1.0, np.nan, 0, 2], np.float32), None, 3),
        (np.array([[1.0, 0], [np.nan, np.nan], [0, 0], [1, 1]], np.float32), None, 3),
        (np.array([0, 1, IGNORE_INDEX, IGNORE_INDEX]), np.array([0, 0, 1, 1]), 1),
        (np.array([0, 1, 0, 0], np.float32), np.array([0, 0, 1, 1]), 1),
        (np.array([0, np.nan, 0, 2], np.float32), np.array([0, 0, 1, 1]), 1),
        (np.array([1, IGNORE_INDEX]), np.array([0, 0, 1, 1]), 1),
    ],
)
def test_targets_are_counted_as_their_losses_count_them(labels, questions, scored):
    data = encoded(LENGTHS[:4], questions=questions, example_labels=labels)
    size = 4 if questions is None else 2
    assert next(loader(data, batch_size=size, micro_size=size).steps()).counts["scored"] == scored


def test_examples_are_told_by_their_rows_and_none_is_an_error():
    data = loader()
    step = next(data.steps())
    told = data.examples(None)
    assert told == "training rows " + ", ".join(map(str, sorted(numbers_of(step.micro_batches))))
    with pytest.raises(DataError, match="no example"):
        loader(encoded(np.zeros(0, np.int64)))


def _fields(data: Encoded) -> dict:
    return {name: getattr(data, name) for name in Encoded.__slots__}
