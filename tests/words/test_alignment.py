import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

from ptcli.corpus.document import Document
from ptcli.words.alignment import first_characters, word_starts, words_of_tokens
from ptcli.words.unicode import Unicode

UNBELIEVABLE = "unbelievable internationalisation happens"
HUAWEI = "他在Ｈuawei买了iPhone15，花了¥5999😀。"
CHINESE = "我喜欢自然语言处理。"
TEXTS = [
    UNBELIEVABLE,
    HUAWEI,
    CHINESE,
    "Hello,  world-wide\n\nagain",
    "the un believe able nation al is ation pens",
] * 30


def wordpiece():
    inner = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return inner, trainers.WordPieceTrainer(vocab_size=90, special_tokens=["[UNK]"], show_progress=False)


def byte_level(trim_offsets):
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return inner, trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)


def unigram():
    inner = tokenizers.Tokenizer(models.Unigram())
    inner.normalizer = normalizers.NFKC()
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    return inner, trainer


KINDS = {
    "wordpiece": wordpiece,
    "byte-level BPE": lambda: byte_level(trim_offsets=False),
    "byte-level BPE, trimmed": lambda: byte_level(trim_offsets=True),
    "unigram": unigram,
}


@pytest.fixture(scope="module", params=KINDS)
def encode(request):
    inner, trainer = KINDS[request.param]()
    inner.train_from_iterator(TEXTS, trainer)

    def encode(text):
        encoding = inner.encode(text, add_special_tokens=False)
        starts, ends = np.array(encoding.offsets, np.int32).reshape(-1, 2).T
        return starts, ends

    return encode


def groups(encode, text):
    """The tokens of each word as a range of characters without white space, and the counts."""
    starts, ends = encode(text)
    begins, num_words, num_unaligned = word_starts(starts, ends, Unicode().spans(Document(text)), len(text))
    number = np.cumsum(begins) - 1
    found = []
    for word in range(number[-1] + 1 if number.size else 0):
        mine = number == word
        found.append(text[starts[mine].min() : ends[mine].max()].strip())
    return found, num_words, num_unaligned, starts.size


def test_words_are_the_same_three_whatever_the_tokenizer(encode):
    found, num_words, num_unaligned, num_tokens = groups(encode, UNBELIEVABLE)
    assert found == UNBELIEVABLE.split()
    assert (num_words, num_unaligned) == (3, 0)
    assert num_tokens > 6  # the words are cut: grouping was needed


def test_punctuation_and_ideographs_are_words_of_their_own(encode):
    found, _, _, _ = groups(encode, "Hello, world-wide")
    assert found == ["Hello", ",", "world", "-", "wide"]
    found, num_words, num_unaligned, _ = groups(encode, CHINESE)
    assert num_words == len(CHINESE)
    assert len(found) > 1
    if not num_unaligned:
        assert found == list(CHINESE)


def test_what_cannot_be_aligned_falls_back_alone_and_is_counted(encode):
    found, num_words, num_unaligned, num_tokens = groups(encode, HUAWEI)
    words = [HUAWEI[a:b] for a, b in Unicode().spans(Document(HUAWEI))]
    assert num_words == len(words)
    whole = [word for word in words if word in found]
    assert len(whole) >= num_words - num_unaligned
    assert "iPhone15" in whole
    assert len(found) <= num_tokens


@settings(deadline=None)
@given(text=st.text(st.sampled_from("ab ,.\n中国é😀'\u0301"), max_size=30))
def test_no_word_is_split_and_none_are_joined_unless_a_token_holds_both(encode, text):
    starts, ends = encode(text)
    spans = Unicode().spans(Document(text))
    begins, num_words, num_unaligned = word_starts(starts, ends, spans, len(text))
    expected, words, unaligned = slow_word_starts(starts, ends, spans, text)
    assert begins.tolist() == expected
    assert (num_words, num_unaligned) == (words, unaligned)


def slow_word_starts(starts, ends, spans, text):
    """The rule, character by character."""
    of_character = [-1] * len(text)
    for number, (start, end) in enumerate(spans):
        of_character[start:end] = [number] * (end - start)
    touched = []
    for start, end in zip(starts, ends, strict=True):
        mine = {n for n in of_character[start:end] if n >= 0}
        if not mine:
            after = [n for n in of_character[start:] if n >= 0]
            mine = {after[0] if after else len(spans)}
        touched.append((min(mine), max(mine)))
    broken = {n for first, last in touched if last > first for n in range(first, last + 1)}
    begins = []
    for i, (first, last) in enumerate(touched):
        begins.append(i == 0 or first != touched[i - 1][1] or first in broken or last in broken)
    present = {n for first, last in touched for n in (first, last)} | broken
    return begins, len(present - {len(spans)}), len(broken)


def test_by_hand():
    spans = np.array([[0, 3], [4, 6], [6, 7], [8, 10]])  # "abc de, fg"
    starts = np.array([0, 2, 3, 5, 8, 10])
    ends = np.array([2, 3, 5, 7, 10, 10])
    begins, num_words, num_unaligned = word_starts(starts, ends, spans, 10)
    # "ab" "c" " d" "e," "fg" and an empty token after all words: "e," holds parts of two words
    assert begins.tolist() == [True, False, True, True, True, True]
    assert (num_words, num_unaligned) == (4, 2)
    first, last = words_of_tokens(starts, ends, spans)
    assert first.tolist() == [0, 0, 1, 1, 3, 4]
    assert last.tolist() == [0, 0, 1, 2, 3, 4]
    assert first_characters(starts, first, spans).tolist() == [0, 2, 4, 5, 8, 10]


def test_nothing():
    begins, num_words, num_unaligned = word_starts(*np.zeros((2, 0), int), np.zeros((0, 2), int), 0)
    assert (begins.size, num_words, num_unaligned) == (0, 0, 0)
