import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.task.rows import Row
from ptcli.task.token_classification import TokenClassification, first_tokens, windows_of
from tests.task.words import examples, letters

LABELS = ("B", "O")


def rows_of(*sentences: str, tags=True):
    return [
        Row(
            index=i,
            texts=(),
            words=tuple(sentence.split()),
            label=tuple("B" if word.startswith("b") else "O" for word in sentence.split()) if tags else None,
            source=f"rows:{i}",
        )
        for i, sentence in enumerate(sentences)
    ]


def encode(rows, max_length=32, task=None):
    task = task or TokenClassification()
    return task.encode(rows, tokenizer=letters(), max_length=max_length, labels=LABELS)


def test_each_word_has_its_tag_at_its_first_token():
    encoded = encode(rows_of("the big cat", "bed"))
    assert examples(encoded) == ["[CLS] the b ##i ##g cat [SEP]", "[CLS] b ##e ##d [SEP]"]
    assert encoded.token_positions is not None and encoded.token_labels is not None and encoded.token_words is not None
    assert encoded.token_positions.tolist() == [1, 2, 5, 8]
    assert encoded.token_labels.tolist() == [1, 0, 1, 0]
    assert encoded.token_words.tolist() == [0, 1, 2, 0]


def test_unlabelled_rows_have_the_places_all_the_same():
    encoded = encode(rows_of("the big cat", tags=False))
    assert encoded.token_positions is not None and encoded.token_labels is not None
    assert encoded.token_positions.tolist() == [1, 2, 5]
    assert (encoded.token_labels == IGNORE_INDEX).all()


def test_long_sentences_are_divided_between_words_and_no_word_is_lost():
    encoded = encode(rows_of("the big cat bed", "cat"), max_length=6)
    assert examples(encoded) == ["[CLS] the b ##i ##g [SEP]", "[CLS] cat b ##e ##d [SEP]", "[CLS] cat [SEP]"]
    assert encoded.row_of_example.tolist() == [0, 0, 1]
    assert encoded.token_words is not None and encoded.token_words.tolist() == [0, 1, 2, 3, 0]
    assert "1 sentences are longer than max_length=6" in encoded.remarks[0]
    assert encoded.num_truncated == 0


def test_a_word_longer_than_a_row_is_cut_and_counted():
    encoded = encode(rows_of("the breakfast cat"), max_length=6)
    assert examples(encoded) == ["[CLS] the [SEP]", "[CLS] b ##r ##e ##a [SEP]", "[CLS] cat [SEP]"]
    assert encoded.num_truncated == 1
    assert encoded.token_words is not None and encoded.token_words.tolist() == [0, 1, 2]


def test_words_without_a_token_are_counted():
    rows = [Row(index=0, texts=(), words=("the", "\u200d\u0000", "cat"), label=("O", "O", "B"))]
    encoded = encode(rows)
    assert encoded.token_words is not None and encoded.token_words.tolist() == [0, 2]
    assert "1 words have no token of their own" in encoded.remarks[0]
    task = TokenClassification()
    predicted = task.decode({"token_logits": np.array([[0.0, 3.0], [3.0, 0.0]])}, encoded, rows, labels=LABELS)
    assert predicted[0]["tags"] == ["O", "O", "B"]
    assert predicted[0]["unread"] == 1


def test_chinese_characters_need_no_space_between():
    rows = [Row(index=0, texts=(), words=tuple("我喜欢猫"), label=("O", "O", "O", "B"))]
    encoded = encode(rows, task=TokenClassification(word_separator=""))
    assert examples(encoded) == ["[CLS] 我 喜 欢 猫 [SEP]"]
    assert encoded.token_words is not None and encoded.token_words.tolist() == [0, 1, 2, 3]


def test_an_empty_sentence_is_an_example_without_words():
    encoded = encode([Row(index=0, texts=(), words=(), label=())])
    assert examples(encoded) == ["[CLS] [SEP]"]
    assert encoded.token_positions is not None and len(encoded.token_positions) == 0


def test_of_words_in_one_token_the_first_has_it():
    words, tokens = first_tokens(np.array([[0, 2], [2, 4], [5, 6]]), np.array([0, 5]), np.array([4, 6]))
    assert (words.tolist(), tokens.tolist()) == ([0, 2], [0, 1])


@settings(deadline=None)
@given(lengths=st.lists(st.integers(1, 7), min_size=1, max_size=30), room=st.integers(1, 9))
def test_windows_hold_all_tokens_once_and_words_whole(lengths, room):
    first = np.cumsum([0, *lengths[:-1]])
    total = sum(lengths)
    windows = windows_of(first, total, room)
    assert [begin for begin, _ in windows] == [0, *[end for _, end in windows[:-1]]]
    assert windows[-1][1] == total
    for begin, end in windows:
        assert begin in first
        inside = [n for n, start in zip(lengths, first, strict=True) if begin <= start < end]
        assert sum(inside) == end - begin
        assert end - begin <= room or len(inside) == 1
    for begin, end in windows[:-1]:  # the next word would not have fitted
        assert end - begin + lengths[int(np.searchsorted(first, end))] > room
