import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.model.sharing.groups import GroupSharing


def test_one_group_is_all():
    assert GroupSharing().plan(3) == [(0, 0)] * 3


def test_inner_layers_follow_each_other():
    numbers = [a for a, _ in GroupSharing(num_groups=2, inner_group_num=2).plan(4)]
    assert numbers == [0, 1, 0, 1, 2, 3, 2, 3]


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 3))
def test_groups_are_equal_and_in_order(groups, each, inner):
    numbers = [a for a, _ in GroupSharing(num_groups=groups, inner_group_num=inner).plan(groups * each)]
    assert len(numbers) == groups * each * inner
    assert [numbers.count(n) for n in range(groups * inner)] == [each] * (groups * inner)
    assert [n // inner for n in numbers] == sorted(n // inner for n in numbers)


def test_refusals():
    with pytest.raises(ConfigError, match=r"num_groups=5 does not divide model\.num_layers=12.*1, 2, 3, 4, 6, 12"):
        GroupSharing(num_groups=5).plan(12)
    for bad in ({"num_groups": 0}, {"inner_group_num": 0}):
        with pytest.raises(ConfigError, match="at least 1"):
            GroupSharing(**bad)
