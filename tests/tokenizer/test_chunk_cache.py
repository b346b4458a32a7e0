import itertools

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, normalizers, pre_tokenizers, trainers

from ptcli.tokenizer import chunk_cache
from ptcli.tokenizer.chunk_cache import ChunkCache
from tests.tokenizer.recipes import RECIPES, Memory, mixed

TEXTS = ["Hello, World! it's naïve [MASK] don’t", "他在Ｈuawei买了iPhone15，花了¥5999😀。", "a\u0301b\tc\r\nd" * 3] * 5


def trained(**normalizer):
    inner = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(**normalizer)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=130, special_tokens=["[UNK]", "[MASK]"], show_progress=False)
    inner.train_from_iterator(TEXTS, trainer)
    return inner


SETTINGS = {
    "uncased": {"lowercase": True},
    "cased": {"lowercase": False},
    "no ideographs": {"handle_chinese_chars": False, "lowercase": False, "strip_accents": False},
    "nothing": {"clean_text": False, "handle_chinese_chars": False, "lowercase": False, "strip_accents": False},
}
INNER = {name: trained(**given) for name, given in SETTINGS.items()}
WHITE = " \t\n\r\v\f\x00\x1c\x85\xa0\u1680\u2009\u2028\u202f\u200b\u3000\ufffd"
SIGNS = ("\x1c", "\v", "\f", "\u1680", "\u2009", "\u202f")
MORE = st.sampled_from((*SIGNS, "the", "'s", "<mask>", "¨", "ﷺ"))
SEPARATOR = "|"
PIECES = st.sampled_from(
    "Hello|world| |  |\n|\t|,|.|’|[MASK]|[MA|é|e\u0301|\u0301|中国|㐀|，|。|\u00a0|\u3000|\u200b|\x00|\x85|\u2028"
    "|İ|ß|가|ﬁ|😀|が|##o|𠀀|_|-|\ufffd".split(SEPARATOR)
)


@pytest.mark.parametrize("name", SETTINGS)
@settings(deadline=None)
@given(texts=st.lists(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20), max_size=4))
def test_the_cache_gives_what_the_tokenizer_gives(name, texts):
    inner = INNER[name]
    cache = ChunkCache.of(inner)
    assert cache is not None
    for _ in range(2):  # also from memory
        for (ids, starts, ends), encoding in zip(
            cache.encode(texts), inner.encode_batch(texts, add_special_tokens=False), strict=True
        ):
            assert ids.tolist() == encoding.ids
            assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == encoding.offsets
            assert ids.dtype == starts.dtype == ends.dtype == np.int32


@pytest.fixture(scope="module", params=["bpe", "unigram", "unigram, cased", "words"])
def learnt(request, tmp_path_factory):
    kind, _, cased = request.param.partition(", ")
    given = {"lowercase": False, "nfkc": False} if cased else {}
    white = "a\v\n b\x85\n c\f\n" * 100 + "a,'s.,”'s'” ,' .—.'1," * 100  # so that white space and signs are merged
    corpus = Memory([*mixed().texts, white])
    return RECIPES[kind](**given).build(corpus, cache=tmp_path_factory.mktemp("tokenizer")).inner


@settings(deadline=None, max_examples=200)
@given(texts=st.lists(st.lists(PIECES | MORE, max_size=12).map("".join) | st.text(max_size=20), max_size=4))
def test_the_cache_of_trained_tokenizers_gives_what_they_give(learnt, texts):
    cache = ChunkCache.of(learnt)
    assert cache is not None
    for (ids, starts, ends), encoding, text in zip(
        cache.encode(texts), learnt.encode_batch(texts, add_special_tokens=False), texts, strict=True
    ):
        assert ids.tolist() == encoding.ids
        for start, end, (their_start, their_end) in zip(starts, ends, encoding.offsets, strict=True):
            # several kinds of white space in a row may be counted to the token before or after them
            assert text[start:end].strip() == text[their_start:their_end].strip()
            assert not text[min(start, their_start) : max(start, their_start)].strip(WHITE)
            assert not text[min(end, their_end) : max(end, their_end)].strip(WHITE)


def test_white_space_of_all_kinds_in_all_orders(learnt):
    cache = ChunkCache.of(learnt)
    assert cache is not None
    texts = ["a" + "".join(kinds) + "b" for kinds in itertools.product(" \v\x85\n\u2009x", repeat=4)]
    for (ids, _, _), encoding in zip(
        cache.encode(texts), learnt.encode_batch(texts, add_special_tokens=False), strict=True
    ):
        assert ids.tolist() == encoding.ids


def test_signs_between_letters_in_all_orders(learnt):
    cache = ChunkCache.of(learnt)
    assert cache is not None
    texts = ["a" + "".join(signs) + "b" for signs in itertools.product(",'”s. 1—", repeat=4)]
    for (ids, _, _), encoding in zip(
        cache.encode(texts), learnt.encode_batch(texts, add_special_tokens=False), strict=True
    ):
        assert ids.tolist() == encoding.ids


def test_long_chunks_are_forgotten_too(monkeypatch):
    monkeypatch.setattr(chunk_cache, "_MOST_CHARACTERS", 10)
    cache = ChunkCache.of(INNER["uncased"])
    for text in ["a" * 30, "b"]:
        assert cache.encode([text])[0][0].tolist() == INNER["uncased"].encode(text, add_special_tokens=False).ids
    assert list(cache._numbers) == ["b"]


def test_forgetting_changes_nothing(monkeypatch):
    monkeypatch.setattr(chunk_cache, "_MOST_CHUNKS", 3)
    cache = ChunkCache.of(INNER["uncased"])
    for text in TEXTS[:3] * 2:
        assert cache.encode([text])[0][0].tolist() == INNER["uncased"].encode(text, add_special_tokens=False).ids


def test_no_cache_where_the_surroundings_may_matter():
    bpe = tokenizers.Tokenizer(models.BPE())
    for unlike in (
        pre_tokenizers.ByteLevel(add_prefix_space=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        pre_tokenizers.Metaspace(),  # nothing joins white space
        pre_tokenizers.Whitespace(),
    ):
        bpe.pre_tokenizer = unlike
        assert ChunkCache.of(bpe) is None
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert ChunkCache.of(bpe) is not None
    bpe.normalizer = normalizers.NFKC()
    assert ChunkCache.of(bpe) is None
    for token in (
        AddedToken("<ent>", lstrip=True, normalized=False),
        AddedToken("two words", normalized=False),
        AddedToken("<e,f>", normalized=False),
        AddedToken("word", single_word=True, normalized=False),
        AddedToken("word", normalized=True),
    ):
        inner = trained(lowercase=True)
        inner.add_tokens([token])
        assert ChunkCache.of(inner) is None
