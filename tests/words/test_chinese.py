import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError
from ptcli.words.chinese import Chinese
from ptcli.words.unicode import Unicode


def words(text):
    return [text[start:end] for start, end in Chinese().spans(Document(text))]


def test_ideographs_are_segmented_and_the_rest_is_whole():
    assert words("我喜欢自然语言处理。") == ["我", "喜欢", "自然语言", "处理", "。"]
    assert words("他在Ｈuawei买了iPhone15，花了¥5999.50😀。don't") == (
        ["他", "在", "Ｈuawei", "买", "了", "iPhone15", "，", "花", "了", "¥", "5999.50", "😀", "。", "don't"]
    )


@settings(deadline=None)
@given(st.text(st.sampled_from("中国人民喜欢a1 ,。\n😀é𠀀")))
def test_words_join_those_of_unicode_only_within_runs_of_ideographs(text):
    spans = Chinese().spans(Document(text))
    unicode = Unicode().spans(Document(text))
    assert set(spans[:, 0]) <= set(unicode[:, 0])
    assert "".join(text[a:b] for a, b in spans) == "".join(text.split())
    for start, end in spans:
        assert end - start == 1 or text[start:end].isalnum() or "é" in text[start:end]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "ptcli\[zh\]"'):
        Chinese().check()
