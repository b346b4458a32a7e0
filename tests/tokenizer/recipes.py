"""Corpora and one recipe of every kind, small enough for tests."""

import random

from ptcli.corpus.document import Document
from ptcli.tokenizer.bpe import ByteLevelBPE
from ptcli.tokenizer.unigram import Unigram
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.tokenizer.words import WordVocabulary

UNBELIEVABLE = "unbelievable internationalisation happens"
HUAWEI = "他在Ｈuawei买了iPhone15，花了¥5999😀。"
CHINESE = "我喜欢自然语言处理。"
PIECES = "un believe able nation al is ation pens inter hap ing the of a fox's river 3.14 Hello, world-wide (naïve)"
TEXTS = [
    UNBELIEVABLE + ". " + HUAWEI + CHINESE,
    "Hello,  world-wide\n\nagain: the naïve fox's 3.14 rivers!",
    "他们在北京学习自然语言，天气很好！买了手机。",
]

RECIPES = {
    "wordpiece": lambda **given: WordPiece(**{"vocab_size": 300, **given}),
    "bpe": lambda **given: ByteLevelBPE(**{"vocab_size": 420, **given}),
    "unigram": lambda **given: Unigram(**{"vocab_size": 250, **given}),
    "words": lambda **given: WordVocabulary(**{"vocab_size": 300, **given}),
}


class Memory:
    """A corpus of texts, each a document."""

    language = "en"
    has_gold_words = False

    def __init__(self, texts):
        self.texts = list(texts)

    def check(self):
        pass

    def documents(self):
        return (Document(text, source=f"text {number}") for number, text in enumerate(self.texts))

    def identity(self):
        return {"texts": self.texts}

    def remarks(self):
        return []


def mixed():
    """English and Chinese lines in which pieces come together in many ways."""
    rng = random.Random(0)
    return Memory([" ".join(rng.choices(PIECES.split(), k=9)) + " " + rng.choice(TEXTS) for _ in range(120)])
