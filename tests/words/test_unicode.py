import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.words.unicode import Unicode


def words(text):
    return [text[start:end] for start, end in Unicode().spans(Document(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world-wide", "Hello|,|world|-|wide"),
        ("don't l’eau 'tis dogs'", "don't|l’eau|'|tis|dogs|'"),
        ("3.14 1,000 v2.x a.b 5.", "3.14|1,000|v2|.|x|a|.|b|5|."),
        ("foo_bar naïve e\u0301tude", "foo|_|bar|naïve|e\u0301tude"),
        ("他在Ｈuawei买了iPhone15，花了¥5999😀。", "他|在|Ｈuawei|买|了|iPhone15|，|花|了|¥|5999|😀|。"),
        ("한국어 단어입니다", "한국어|단어입니다"),
        ("العَرَبِيَّة می\u200cخواهم", "العَرَبِيَّة|می\u200cخواهم"),
        ("ไทยที่", "ไ|ท|ย|ที่"),
        ("カタカナーひら", "カタカナー|ひ|ら"),
        ("👨‍👩‍👧👍🏽 🇩🇪🇫🇷 1️⃣ ❤️", "👨‍👩‍👧|👍🏽|🇩🇪|🇫🇷|1️⃣|❤️"),
        ("हिन्दी में", "हिन्दी|में"),
        ("𠀀葛\U000e0100", "𠀀|葛\U000e0100"),
        (" \n\t", ""),
    ],
)
def test_words(text, expected):
    assert "|".join(words(text)) == expected


@settings(deadline=None)
@given(st.text(max_size=60))
def test_each_character_that_is_no_white_space_is_in_exactly_one_word(text):
    spans = Unicode().spans(Document(text))
    assert spans.dtype == np.int32
    assert spans.shape == (len(spans), 2)
    covered = np.zeros(len(text), int)
    for start, end in spans:
        assert end > start
        covered[start:end] += 1
    assert [c.isspace() for c in text] == [n == 0 for n in covered]
    assert covered.max(initial=0) <= 1
    assert (np.diff(spans.ravel()) >= 0).all()
