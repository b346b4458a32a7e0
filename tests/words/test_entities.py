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


@settings(deadline=None)
@given(st.lists(st.sampled_from(["美国", "北京", "a1", " ", "，", "中", "😀", "尼克松", "的"])).map("".join))
def test_units_are_whole_words(text):
    words, units = Entities().spans(Document(text)), Entities().units(Document(text))
    assert {tuple(unit[:2]) for unit in units} <= {tuple(word) for word in words}
    assert (units[1:, 0] >= units[:-1, 1]).all()


def test_facts_and_refusals(monkeypatch):
    assert Entities.makes_units
    assert Entities().identity() != Chinese().identity()
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"ptcli\[zh\]"):
        Entities().check()
