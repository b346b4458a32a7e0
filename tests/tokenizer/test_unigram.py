from importlib import util

import pytest

from ptcli.errors import ConfigError
from ptcli.tokenizer.unigram import Unigram
from tests.tokenizer.recipes import Memory, mixed


def test_pieces_hold_the_space_before_them_and_no_sign_beside_letters(tmp_path):
    tokenizer = Unigram(vocab_size=300).build(mixed(), cache=tmp_path)
    tokens = [tokenizer.token(number) for number in tokenizer.vocabulary.ordinary_ids]
    assert any(token.startswith("▁") and len(token) > 2 for token in tokens)
    inner = [token.removeprefix("▁") for token in tokens]
    assert all(token.isalpha() or not any(map(str.isalpha, token)) for token in inner)
    assert tokenizer.decode(tokenizer.encode(["the  river\nof nations"])[0][0]) == "the river of nations"


def test_the_longest_piece(tmp_path):
    tokenizer = Unigram(vocab_size=200, longest_piece=3).build(mixed(), cache=tmp_path)
    assert max(len(tokenizer.token(number)) for number in tokenizer.vocabulary.ordinary_ids) == 3


def test_rare_characters_without_room_are_unknown_and_said(tmp_path):
    recipe = Unigram(vocab_size=30)
    tokenizer = recipe.build(mixed(), cache=tmp_path)
    assert tokenizer.vocabulary.size == 30
    assert any("has no room for" in remark and "become [UNK]" in remark for remark in recipe.remarks())
    assert tokenizer.vocabulary.unk_token_id in tokenizer.encode(["龘"])[0][0]


def test_text_that_spells_a_special_token_after_normalisation_is_text(tmp_path):
    tokenizer = Unigram(vocab_size=200, lowercase=False).build(Memory([*mixed().texts, "[CLS] x " * 9]), cache=tmp_path)
    ids = tokenizer.encode(["［ＣＬＳ］ is wide"])[0][0]
    assert not tokenizer.vocabulary.special[ids].any()


def test_refusals(monkeypatch):
    with pytest.raises(ConfigError, match="longest_piece=0"):
        Unigram(longest_piece=0).check()
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "ptcli\[unigram\]"'):
        Unigram().check()
