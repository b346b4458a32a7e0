"""Every strategy as it is tested: made with what a command would give it, in each variety that its settings make."""

from functools import cache
from typing import Any

import numpy as np

from ptcli.mask.collocations import extended, word_hash
from ptcli.mask.examples import Examples
from ptcli.mask.frequency import FrequencyMask
from ptcli.mask.ngram import NgramMask
from ptcli.mask.phrase import PhraseMask
from ptcli.mask.pmi import PmiMask
from ptcli.mask.span import SpanMask
from ptcli.mask.strategy import MaskStrategy
from ptcli.mask.token import TokenMask
from ptcli.mask.whole_word import WholeWordMask
from ptcli.randomness import key_of
from tests.mask.synthetic import SIZE, vocabulary

KINDS: dict[str, tuple[type[MaskStrategy], dict[str, Any]]] = {
    "token": (TokenMask, {}),
    "whole_word": (WholeWordMask, {}),
    "span": (SpanMask, {}),
    "span whole": (SpanMask, {"complete_last": True, "at_least_one": False}),
    "ngram": (NgramMask, {}),
    "ngram long": (NgramMask, {"favor": "long", "max_ngram": 5}),
    "ngram permuted": (NgramMask, {"permute": True}),
    "phrase": (PhraseMask, {}),
    "phrase token": (PhraseMask, {"basic": "token"}),
    "pmi": (PmiMask, {}),
    "frequency": (FrequencyMask, {}),
}
TOKENS = ("token", "frequency")  # kinds whose atoms are tokens
NOT_WORDS = (*TOKENS, "phrase token")  # kinds that may cut a word


def budgets_of(kind: str) -> tuple[str, ...]:
    """The budgets that a kind takes."""
    return ("stochastic_round", "fixed") if kind == "frequency" else ("stochastic_round", "fixed", "bernoulli")


def make(kind: str, *, ratio: float = 0.15, **options: Any) -> MaskStrategy:
    """A mask of a kind that scores `ratio` of the tokens, over the made-up vocabulary."""
    cls, own = KINDS[kind]
    given: dict[str, Any] = {"vocabulary": vocabulary(), "counts": counts()}
    if cls is PmiMask:
        given["ngrams"] = some_ngrams()
    half = 0.5 if own.get("permute") else 1.0
    return cls(**{**given, "ratio": ratio * half, **options, **own})


def atoms_of(mask: MaskStrategy, examples: Examples, *, seed: int = 0, epoch: int = 0) -> np.ndarray:
    """The length of each atom that a mask cuts examples into, and the example it lies in: int64 (A, 2)."""
    _, atoms = mask.partition(examples, key=key_of(seed, "mask.partition", epoch), step=None)
    owner = np.repeat(np.arange(len(examples.keys)), np.diff(examples.offsets))
    number = np.cumsum(atoms)[examples.maskable] - 1
    return np.stack((np.bincount(number, minlength=atoms.sum()), owner[atoms]), axis=1)


@cache
def counts() -> np.ndarray:
    """Frequencies that fall as 1 / rank, in an order unlike that of the ids; 0 at specials."""
    order = np.random.default_rng(8).permutation(SIZE)
    frequencies = (1e6 / (1 + order)).astype(np.int64)
    frequencies[vocabulary().special] = 0
    return frequencies


@cache
def some_ngrams() -> np.ndarray:
    """The hashes of a tenth of all pairs of words of one token, and of a few triples."""
    ids = vocabulary().ordinary_ids
    words = [np.uint64(word_hash(np.array([i]), 0, 1)) for i in ids]
    random = np.random.default_rng(9)
    found = []
    for a, b in random.integers(0, len(ids), (len(ids) ** 2 // 10, 2)):
        value = np.uint64(extended(np.uint64(extended(np.uint64(0), words[a])), words[b]))
        found.append(value)
        if a % 7 == 0:
            found.append(extended(value, words[random.integers(len(ids))]))
    return np.unique(np.array(found, np.uint64))
