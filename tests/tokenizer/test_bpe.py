import pytest

from ptcli.errors import ConfigError
from ptcli.tokenizer import bpe
from ptcli.tokenizer.bpe import ByteLevelBPE
from tests.tokenizer.recipes import Memory, mixed


def test_no_character_is_unknown_and_text_comes_back(tmp_path):
    tokenizer = ByteLevelBPE(vocab_size=300).build(mixed(), cache=tmp_path)
    text = "Ωmega 龘 \u0000 😀\n\n  two  spaces\té"
    ids = tokenizer.encode([text])[0][0]
    assert tokenizer.vocabulary.unk_token_id not in ids
    assert tokenizer.decode(ids) == text


def test_the_first_merges_are_the_most_frequent_pairs(tmp_path):
    tokenizer = ByteLevelBPE(vocab_size=264).build(Memory(["hug " * 10 + "pug " * 5 + "pun " * 12]), cache=tmp_path)
    assert [tokenizer.token(number) for number in range(261, 264)] == ["pu", "Ġpu", "Ġpun"]


def test_a_vocabulary_without_room_for_the_bytes_is_refused():
    with pytest.raises(ConfigError, match=r"too small for the 256 bytes and the special tokens\. Give at least 261"):
        ByteLevelBPE(vocab_size=260).check()
    with pytest.raises(ConfigError, match="Give at least 360"):
        ByteLevelBPE(vocab_size=300, layout="t5").check()
    with pytest.raises(ConfigError, match="min_frequency=0"):
        ByteLevelBPE(min_frequency=0).check()


def test_distinct_words_beyond_the_memory_are_thinned_evenly(monkeypatch, tmp_path):
    monkeypatch.setattr(bpe, "_MOST_SYMBOLS", 2_000)
    texts = [f"{number:05d}" * 300 for number in range(40)]  # 60,000 bytes without a space
    recipe = ByteLevelBPE(vocab_size=300)
    recipe.build(Memory(texts), cache=tmp_path)
    assert any("was trained on 3,000 of 60,000 characters" in remark for remark in recipe.remarks())
