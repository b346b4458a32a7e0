"""Counting n-grams, held against a few lines of plain Python."""

import itertools
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from ptcli.mask.collocations import collocations, contains, extended, hash_set, word_hash
from ptcli.store.documents import Documents

SPECIAL = np.zeros(60, bool)
SPECIAL[3] = True


def text(num_documents: int = 300, seed: int = 0):
    """Shards and documents of made-up text: words of one or two tokens, favourite pairs and triples, some specials."""
    random = np.random.default_rng(seed)
    words = [(5 + i,) if i % 3 else (5 + i, 50 + i % 8) for i in range(40)]
    friends = [(1, 2), (7, 8, 9), (10, 11), (3, 30, 4, 31), (20, 21, 22)]
    sentences, per_document = [], []
    for _ in range(num_documents):
        number = int(random.integers(1, 5))
        per_document.append(number)
        for _ in range(number):
            sentence = []
            for _ in range(int(random.integers(1, 12))):
                if random.random() < 0.15:
                    sentence += [words[w] for w in friends[random.integers(len(friends))]]
                elif random.random() < 0.05:
                    sentence.append((3,))
                else:
                    sentence.append(words[int(40 * random.random() ** 2)])
            sentences.append(sentence)
    half = num_documents // 2
    cut = sum(per_document[:half])
    parts = [(sentences[:cut], per_document[:half]), (sentences[cut:], per_document[half:])]
    shards, documents = [], []
    for number, (some, counts) in enumerate(parts):
        tokens = np.array([t for s in some for w in s for t in w], np.uint16)
        starts = np.array([i == 0 for s in some for w in s for i in range(len(w))], bool)
        shards.append(SimpleNamespace(tokens=tokens, word_starts=np.packbits(starts, bitorder="little")))
        offsets = np.cumsum([0] + [sum(map(len, s)) for s in some])
        ends = np.cumsum([0, *counts])
        documents.append(Documents(number, offsets, np.stack((ends[:-1], ends[1:]), axis=1)))
    return shards, documents, sentences


def reference(sentences, *, max_ngram: int, min_count: int) -> dict[tuple, float]:
    """Scores above 0 by n-gram of words."""
    found: Counter = Counter()
    for sentence in sentences:
        for special, run in itertools.groupby(sentence, key=lambda word: word == (3,)):
            run = [] if special else list(run)
            for n in range(1, max_ngram + 1):
                found.update(tuple(run[i : i + n]) for i in range(len(run) - n + 1))
    total = sum(count for ngram, count in found.items() if len(ngram) == 1)

    def log_p(ngram):
        return math.log(found[ngram] / total)

    def cuts(ngram):
        for places in itertools.product((False, True), repeat=len(ngram) - 1):
            if any(places):
                ends = [i + 1 for i, cut in enumerate(places) if cut]
                yield [ngram[a:b] for a, b in itertools.pairwise([0, *ends, len(ngram)])]

    scores = {
        ngram: min(log_p(ngram) - sum(map(log_p, cut)) for cut in cuts(ngram))
        for ngram, count in found.items()
        if len(ngram) > 1 and count >= min_count
    }
    return {ngram: score for ngram, score in scores.items() if score > 0}


def hash_of(ngram) -> int:
    value = np.uint64(0)
    for word in ngram:
        value = np.uint64(extended(value, np.uint64(word_hash(np.array(word), 0, len(word)))))
    return int(value)


def find(shards, documents, **options):
    given = {"special": SPECIAL, "max_ngram": 4, "min_count": 5, "max_ngrams": 10**6}
    return collocations(shards, documents, **given | options)


def test_it_finds_what_plain_python_finds():
    shards, documents, sentences = text()
    expected = reference(sentences, max_ngram=4, min_count=5)
    assert len(expected) > 50
    assert set(find(shards, documents).tolist()) == set(map(hash_of, expected))


def test_the_best_are_kept():
    shards, documents, sentences = text()
    scores = reference(sentences, max_ngram=4, min_count=5)
    best = sorted(scores, key=lambda ngram: -scores[ngram])[:20]
    kept = set(find(shards, documents, max_ngrams=20).tolist())
    assert len(kept) == 20
    assert len(kept & set(map(hash_of, best))) >= 19, "one may be a tie, or rounded otherwise"


def test_a_least_score():
    shards, documents, sentences = text()
    scores = reference(sentences, max_ngram=4, min_count=5)
    expected = {hash_of(ngram) for ngram, score in scores.items() if score > 1}
    assert 0 < len(expected) < len(scores)
    assert set(find(shards, documents, min_score=1.0).tolist()) == expected


def test_friends_are_found_and_strangers_are_not():
    shards, documents, _ = text(2000)
    table = hash_set(find(shards, documents, max_ngrams=40))
    assert contains(table, np.uint64(hash_of([(12,), (13,), (14, 51)]))), "the words 7, 8, 9"
    assert not contains(table, np.uint64(hash_of([(6,), (6,)])))


def test_a_longer_text_is_read_in_part_and_said(caplog):
    shards, documents, _ = text(2000)
    tokens = sum(part.num_tokens for part in documents)
    with caplog.at_level("INFO"):
        some = find(shards, documents, most_tokens=tokens // 4 + 1)
    assert "one of 4 documents" in caplog.text
    assert 0 < len(some) < len(find(shards, documents))


def test_too_many_frequent_n_grams_raise_the_threshold_and_it_is_said(caplog):
    shards, documents, sentences = text(1000)
    with caplog.at_level("INFO"):
        found = set(find(shards, documents, most_frequent=150).tolist())
    assert "occurrences or more are scored, not of 5" in caplog.text
    assert found < set(map(hash_of, reference(sentences, max_ngram=4, min_count=5)))


def test_an_empty_text_has_none():
    shards, documents, _ = text(4)
    nothing = [part._replace(ranges=part.ranges[:0]) for part in documents]
    assert find(shards, nothing).shape == (0,)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 1000])
def test_a_set_of_hashes(size):
    hashes = np.unique(np.random.default_rng(size).integers(1, 2**63, size).astype(np.uint64))
    table = hash_set(hashes)
    assert all(contains(table, value) for value in hashes)
    assert not any(contains(table, value) for value in hashes ^ np.uint64(1 << 63))
