import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus import sentences
from ptcli.corpus.sentences import LONGEST_SENTENCE, cut, sentence_spans


def split(text, language):
    return [text[start:end] for start, end in sentence_spans(text, language)]


def test_english_abbreviations_and_quotes():
    assert split('Dr. Smith of the U.S. came. He said "Hi. Bye." and left.  Mr. X did not! ', "en") == [
        "Dr. Smith of the U.S. came. ",
        'He said "Hi. Bye." and left.  ',
        "Mr. X did not! ",
    ]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["J. R. R. Tolkien wrote it. ", "St. Paul came on Jan. 5. ", "It costs $3.50 at 5 p.m. today."]),
        ("en", ['He said: "I am here." ', "She left. ", '"Why?" he asked. ', "'No!' "]),
        ("en", ["What?! ", "No... ", "Well… yes. ", "E.g. this, i.e. that."]),
        ("de", ["Am 3. Mai kam Dr. Weiß. ", "Er sagte: „Gut.“ ", "Z. B. so."]),
        ("zh", ["他說：「你好！」", "她問：「真的嗎？」", "《紅樓夢》是書。"]),
        ("zh", ["“是吗？！”", "她问；他答：“是。”", "（完。）圆周率是3.14。", "A公司(U.S.)来了。"]),
        ("ja", ["これはテスト。", "「はい。」", "え？"]),
    ],
)
def test_abbreviations_numbers_and_quotes_of_each_language(language, sentences):
    assert split("".join(sentences), language) == sentences


def test_chinese_marks_and_quotes():
    assert split("他说：“很好。”然后走了！真的吗？是的……我去了。「你好。」第二", "zh") == [
        "他说：“很好。”",
        "然后走了！",
        "真的吗？",
        "是的……我去了。",
        "「你好。」",
        "第二",
    ]


def test_a_blank_line_ends_a_sentence_and_white_space_goes_with_the_one_before():
    assert split("\n\n A title\n \n\nText\nwrapped.\n\n\n", "en") == ["\n\n A title\n \n\n", "Text\nwrapped.\n\n\n"]
    assert split(" \n\n ", "en") == [" \n\n "]
    assert split("", "en") == []


ANY = st.text(st.sampled_from("ab .。？！\n\t\r”“\"'「」😀𠀀中é"), max_size=80) | st.text(max_size=80)


@settings(deadline=None)
@given(ANY, st.sampled_from(["en", "zh", "xx"]))
def test_sentences_are_the_whole_text_and_none_is_blank(text, language):
    spans = sentence_spans(text, language)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert all(not text[start:end].isspace() for start, end in spans) or len(spans) == 1


@settings(deadline=None)
@given(st.lists(st.sampled_from(["Mr. A b. ", "他说。", "x ", "“好。”", "Is it? "]), max_size=300))
def test_windows_change_nothing(pieces):
    text = "".join(pieces)
    whole = sentence_spans(text, "zh")
    window, margin = sentences._WINDOW, sentences._MARGIN
    try:
        sentences._WINDOW, sentences._MARGIN = 120, 60
        assert sentence_spans(text, "zh") == whole
    finally:
        sentences._WINDOW, sentences._MARGIN = window, margin


def test_a_window_that_begins_with_a_quote_is_judged_by_what_stands_before(monkeypatch):
    text = "他说。" + "Mr. A b. " * 6 + "“好。”" * 2 + "Mr. A b. " * 7
    whole = sentence_spans(text, "zh")
    assert (65, 69) in whole
    monkeypatch.setattr(sentences, "_WINDOW", 120)
    monkeypatch.setattr(sentences, "_MARGIN", 60)
    assert sentence_spans(text, "zh") == whole


def test_text_without_an_end_is_cut_and_nothing_is_lost():
    for text in ("字" * 70_001, "word " * 20_000):
        found = split(text, "zh")
        assert "".join(found) == text
        assert max(map(len, found)) <= LONGEST_SENTENCE + sentences._MARGIN
        assert len(found) == -(-len(text) // LONGEST_SENTENCE)
    assert all(sentence.endswith(" ") for sentence in found)


def test_a_megabyte_of_chinese_on_one_line_takes_seconds_at_most():
    text = "他说今天很好，我去了那里看见很多人。" * 20_000
    begun = time.process_time()
    assert len(sentence_spans(text, "zh")) == 20_000
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "limit", "expected"), [("ab cd ef", 7, 6), ("abcdefgh", 4, 4), ("ab", 4, 2), ("a bcdefg", 6, 6)]
)
def test_cut(text, limit, expected):
    assert cut(text, 0, limit) == expected
