"""What is remembered makes preparation faster and changes nothing."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from ptcli.corpus.document import Document
from ptcli.store import memory as remembering
from ptcli.store.memory import Memory
from ptcli.store.pieces import pieces_of
from ptcli.tokenizer.bpe import ByteLevelBPE
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.unigram import Unigram
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.gold import Gold
from ptcli.words.unicode import Unicode
from tests.store.test_prepare import TEXTS, Given

STRETCHES = [
    *("the", "Don't", "well-known,", '"Hello!"', "3.14", "1,000", "U.S.", "l’eau", "naïve", "été", "e\u0301te\u0301"),
    *('"Yes,"', "end.)", "can't,", "x.5", "A.\u0301", "(a)", "é.", "two-", "...", "-"),
    *("\u0301", "\u200d", "\ufeff", "\xad", "\x00", "他说：很好。"),
    *("한국어", "👩‍👩‍👧", "🇫🇷", "[MASK]", "x[MASK]", "</s>", "▁", "Ġ"),
    *("ﬁ", "Ⅻ", "¨", "½", "unaffable" * 5, " ", "  ", "\n", "\t", "\xa0", "\u3000", "\x85", "\x1c", "\u2028"),
]
RECIPES = {
    "wordpiece": WordPiece(vocab_size=120),
    "cased": WordPiece(vocab_size=160, lowercase=False),
    "bpe": ByteLevelBPE(vocab_size=320),
    "unigram": Unigram(vocab_size=120),
}


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    corpus = Given([*TEXTS, " ".join(STRETCHES) * 3])
    return {name: recipe.build(corpus, cache=tmp_path_factory.mktemp(name)) for name, recipe in RECIPES.items()}


def equal(one, other):
    for name, ours, theirs in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("name", RECIPES)
@settings(deadline=None, max_examples=60)
@example(texts=["the the the", "the", "the\nthe", "the  the"], most=100)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(STRETCHES), min_size=1, max_size=8)
        .flatmap(lambda some: st.sampled_from(["", " "]).map(lambda by: by.join(some)))
        .filter(bool),
        min_size=1,
        max_size=8,
    ),
    most=st.integers(0, 10),
)
def test_the_same_as_without_memory(tokenizers, name, texts, most):
    how = {"words": Unicode(), "tokenizer": tokenizers[name]}
    documents = [Document(text) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembering, "_MOST_PIECES", most)
        memory = Memory(**how)
        for some in (documents, documents[::-1], documents):
            equal(memory.pieces_of(some), pieces_of(some, **how))


def test_it_remembers(tokenizers, monkeypatch):
    """Otherwise all of this tests nothing."""
    asked = []
    for name, tokenizer in tokenizers.items():
        assert tokenizer.cuts_at_spaces, name
        memory = Memory(words=Unicode(), tokenizer=tokenizer)
        texts = ["the one and the other", "the other", "他说今天很好，我去了那里看见很多人。", "one\ntwo"]
        memory.pieces_of([Document(text) for text in texts])
        encode = tokenizer.encode

        def spied(texts, *, encode=encode, **how):
            asked.extend(texts)
            return encode(texts, **how)

        monkeypatch.setattr(tokenizer, "encode", spied)
        memory.pieces_of([Document(text) for text in [*texts, "the and new"]])
        assert asked == [" new", "他说今天很好，我去了那里看见很多人。", "one\ntwo"]
        asked.clear()


@pytest.mark.parametrize(
    ("name", "new"), [("wordpiece", [",", '."']), ("bpe", [",", '."']), ("unigram", [" one,", ' other."'])]
)
def test_a_word_is_remembered_with_any_sign_behind_it(tokenizers, monkeypatch, name, new):
    tokenizer, asked = tokenizers[name], []
    memory = Memory(words=Unicode(), tokenizer=tokenizer)
    memory.pieces_of([Document("the one and the other")])
    encode = tokenizer.encode
    monkeypatch.setattr(tokenizer, "encode", lambda texts, **how: asked.extend(texts) or encode(texts, **how))
    memory.pieces_of([Document('the one, and the other."')])
    assert asked == (new if name != "unigram" else ["".join(new)])


def test_words_that_know_more_than_their_piece_are_not_remembered(tokenizers):
    class Neighbours(Unicode):
        """A subclass may look further."""

    tokenizer = tokenizers["wordpiece"]
    assert Memory(words=Unicode(), tokenizer=tokenizer)._helps
    assert not Memory(words=Neighbours(), tokenizer=tokenizer)._helps
    assert not Memory(words=Gold(), tokenizer=tokenizer)._helps


def test_a_token_that_reaches_over_a_space_forbids_it(tokenizers):
    inner = type(tokenizers["wordpiece"].inner).from_str(tokenizers["wordpiece"].inner.to_str())
    inner.add_tokens([AddedToken("New York", normalized=False)])
    tokenizer = Tokenizer(inner, special_tokens=tokenizers["wordpiece"].special_tokens)
    assert not tokenizer.cuts_at_spaces
    how = {"words": Unicode(), "tokenizer": tokenizer}
    documents = [Document("in New York now")]
    equal(Memory(**how).pieces_of(documents), pieces_of(documents, **how))
    assert tokenizer.id("New York") in pieces_of(documents, **how).ids
