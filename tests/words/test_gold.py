import numpy as np
import pytest

from ptcli.corpus.document import Document
from ptcli.errors import DataError
from ptcli.words.gold import Gold


def test_gold_words_are_kept_and_gaps_are_filled():
    text = "  中国人 OK, 好"
    gold = np.array([[2, 4], [6, 8]], np.int32)
    spans = Gold().spans(Document(text, words=gold))
    assert [text[a:b] for a, b in spans] == ["中国", "人", "OK", ",", "好"]
    whole = np.array([[2, 5], [6, 8], [8, 9], [10, 11]], np.int32)
    np.testing.assert_array_equal(Gold().spans(Document(text, words=whole)), whole)
    assert Gold().spans(Document("", words=np.zeros((0, 2), np.int32))).shape == (0, 2)


def test_refusals():
    with pytest.raises(DataError, match=r"words=gold, but a\.txt:1 has no gold words.*words=unicode"):
        Gold().spans(Document("a", source="a.txt:1"))
    with pytest.raises(DataError, match="overlap"):
        Gold().spans(Document("abc", words=np.array([[0, 2], [1, 3]], np.int32)))
    with pytest.raises(DataError, match="outside"):
        Gold().spans(Document("abc", words=np.array([[0, 9]], np.int32)))
