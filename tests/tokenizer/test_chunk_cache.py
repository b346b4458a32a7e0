import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, normalizers, pre_tokenizers, trainers

from ptcli.tokenizer import chunk_cache
from ptcli.tokenizer.chunk_cache import ChunkCache

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


def test_forgetting_changes_nothing(monkeypatch):
    monkeypatch.setattr(chunk_cache, "_MOST_CHUNKS", 3)
    cache = ChunkCache.of(INNER["uncased"])
    for text in TEXTS[:3] * 2:
        assert cache.encode([text])[0][0].tolist() == INNER["uncased"].encode(text, add_special_tokens=False).ids


def test_no_cache_where_the_surroundings_may_matter():
    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel()
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
