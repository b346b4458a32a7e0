import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.errors import DataError
from ptcli.task.pair_classification import PairClassification
from ptcli.task.rows import Row
from ptcli.task.split import folds, split_off

TASK = PairClassification()


def pairs(*texts):
    return [Row(index=i, texts=both, label="1", source=f"rows:{i}") for i, both in enumerate(texts)]


MANY = pairs(*[(f"a{i}", f"b{i}") for i in range(500)], *[(f"b{i}", f"a{i}") for i in range(500)])


def test_a_pair_and_its_swap_never_come_to_lie_on_two_sides():
    training, held_out = split_off(TASK, MANY, fraction=0.2, seed=3)
    assert len(held_out) == 200
    assert not {TASK.group_of(row) for row in training} & {TASK.group_of(row) for row in held_out}
    assert sorted(row.index for row in (*training, *held_out)) == list(range(1000))
    assert [row.index for row in training] == sorted(row.index for row in training)


def test_a_split_is_the_seeds_and_the_texts_alone():
    def held_out(rows, seed):
        return {row.texts for row in split_off(TASK, rows, fraction=0.2, seed=seed)[1]}

    assert held_out(MANY, 1) == held_out(list(reversed(MANY)), 1)
    assert held_out(MANY, 1) != held_out(MANY, 2)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=12), fraction=st.floats(0.01, 0.99), seed=st.integers(0))
def test_both_sides_have_rows_and_whole_groups(sizes, fraction, seed):
    rows = [
        Row(index=0, texts=(str(place),), group=str(group)) for group, size in enumerate(sizes) for place in range(size)
    ]
    training, held_out = split_off(TASK, rows, fraction=fraction, seed=seed)
    assert training and held_out and len(training) + len(held_out) == len(rows)
    assert not {row.group for row in training} & {row.group for row in held_out}
    assert abs(len(held_out) - fraction * len(rows)) <= max(sizes)


def test_rows_of_one_group_cannot_be_split():
    with pytest.raises(DataError, match="all 2 are of one group"):
        split_off(TASK, pairs(("a", "b"), ("b", "a")), fraction=0.5, seed=1)


def test_folds_are_whole_groups_of_nearly_one_size():
    fold_of = folds(TASK, MANY, number=5, seed=1)
    sizes = [(fold_of == fold).sum() for fold in range(5)]
    assert max(sizes) - min(sizes) <= 2
    assert all(fold_of[place] == fold_of[place + 500] for place in range(500))
    with pytest.raises(DataError, match="1 groups, too few for 2 folds"):
        folds(TASK, pairs(("a", "b"), ("b", "a")), number=2, seed=1)
