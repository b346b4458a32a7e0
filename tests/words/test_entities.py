from importlib import util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError
from ptcli.words.chinese import Chinese
from ptcli.words.entities import Entities


def names(text):
    return [text[start:end] for start, end, _ in Entities().units(Document(text))]


def test_names_are_units_and_words_are_those_of_the_segmenter():
    text = "周总理在北京大学会见了美国总统尼克松, Huawei也在。"
    assert names(text) == ["周总理", "北京大学", "美国", "尼克松"]
    assert (Entities().units(Document(text))[:, 2] == Entities.unit_types.index("entity")).all()
    np.testing.assert_array_equal(Entities().spans(Document(text)), Chinese().spans(Document(text)))
    assert Entities().units(Document("no names")).shape == (0, 3)


def test_names_of_one_kind_side_by_side_are_one():
    assert names("他去上海浦东。") == ["上海浦东"]  # two places
    assert names("美国尼克松来了") == ["美国", "尼克松"]  # a place and a person
    assert names("上海，浦东") == ["上海", "浦东"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["美国", "北京", "a1", " ", "，", "中", "😀", "尼克松", "的"])).map("".join))
def test_units_are_made_of_whole_words(text):
    words, units = Entities().spans(Document(text)), Entities().units(Document(text))
    assert set(units[:, 0]) <= set(words[:, 0]) and set(units[:, 1]) <= set(words[:, 1])
    assert (units[1:, 0] >= units[:-1, 1]).all()


def test_facts_and_refusals(monkeypatch):
    assert Entities.makes_units
    assert Entities().identity() != Chinese().identity()
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"ptcli\[zh\]"):
        Entities().check()
