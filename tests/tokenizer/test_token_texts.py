import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Inner
from tokenizers import decoders, models, pre_tokenizers

from ptcli.tokenizer.special_tokens import SpecialTokens
from ptcli.tokenizer.token_texts import TokenTexts
from ptcli.tokenizer.tokenizer import Tokenizer

ROLES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SPECIAL = list(ROLES)


def wordpiece() -> Tokenizer:
    pieces = ["a", "un", "##believ", "##able", "自", "##然", "'", "."]
    inner = Inner(models.WordPiece({t: i for i, t in enumerate([*SPECIAL, *pieces])}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    inner.add_special_tokens(SPECIAL)
    return Tokenizer(inner, special_tokens=SpecialTokens(*ROLES))


def byte_level() -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]
    tokens = [*SPECIAL, *letters, *("".join(pair) for pair in merges)]
    inner = Inner(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(SPECIAL)
    return Tokenizer(inner, special_tokens=SpecialTokens(*ROLES))


@pytest.mark.parametrize(
    ("token", "text"),
    [("##believ", "believ"), ("un", "un"), ("##然", "然"), ("'", "'"), (".", "."), ("[MASK]", "[MASK]")],
)
def test_the_marks_of_wordpiece_are_not_shown(token, text):
    tokenizer = wordpiece()
    assert TokenTexts(tokenizer).text(tokenizer.id(token)) == text


def test_the_marks_of_byte_level_tokens_are_not_shown():
    tokenizer = byte_level()
    texts = TokenTexts(tokenizer)
    assert texts.text(tokenizer.id("Ġthe")) == "the"
    assert texts.num_characters(tokenizer.id("Ġthe")) == 3


def test_a_token_of_space_alone_is_shown_by_its_name_and_has_no_character():
    tokenizer = byte_level()
    texts = TokenTexts(tokenizer)
    newline = int(tokenizer.encode(["\n"])[0][0][0])
    assert texts.text(newline) == "Ċ"
    assert texts.num_characters(newline) == 0


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=30))
def test_characters_of_all_byte_tokens_are_those_of_the_text(text):
    tokenizer = _BYTE_LEVEL
    texts = TokenTexts(tokenizer)
    ids = tokenizer.encode([text])[0][0]
    assert sum(texts.num_characters(int(id)) for id in ids) == len("".join(text.split()))


_BYTE_LEVEL = byte_level()
