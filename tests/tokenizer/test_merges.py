import random
from itertools import pairwise

from ptcli.tokenizer.merges import learn_pieces

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def test_merges_by_hand():
    # ##u ##g: 10 + 5 + 5 = 20, then ##u ##n: 16, then h ##ug: 15
    pieces, without_room = learn_pieces(WORDS, size=11, min_frequency=2)
    assert pieces == ["##g", "##n", "##s", "##u", "b", "h", "p", "##ug", "##un", "hug", "pun"]
    assert without_room == 0


def test_the_order_of_words_changes_nothing():
    words = {f"{a}{b}{a}{c}": 3 for a in "abcd" for b in "efgh" for c in "aeiou"}  # many equal counts
    shuffled = list(words.items())
    random.Random(0).shuffle(shuffled)
    assert learn_pieces(words, size=60, min_frequency=2) == learn_pieces(dict(shuffled), size=60, min_frequency=2)


def test_limits():
    pieces, without_room = learn_pieces(WORDS, size=3, min_frequency=2)
    assert (pieces, without_room) == (["##g", "##u", "p"], 4)
    assert len(learn_pieces(WORDS, size=1000, min_frequency=1)[0]) == 7 + 7  # until every word is whole
    assert len(learn_pieces(WORDS, size=1000, min_frequency=100)[0]) == 7
    assert learn_pieces({}, size=10, min_frequency=1) == ([], 0)


def test_repeated_pairs_within_a_word():
    pieces, _ = learn_pieces({"aaaa": 3, "banana": 2}, size=50, min_frequency=2)
    assert {"aaaa", "banana"} <= set(pieces)


def test_counts_stay_true_while_merging():
    # each piece that was merged must be found by merging greedily from scratch
    rng = random.Random(1)
    words = {"".join(rng.choices("abc", k=rng.randint(1, 8))): rng.randint(1, 9) for _ in range(60)}
    pieces, _ = learn_pieces(words, size=40, min_frequency=2)
    assert pieces == slow(words, size=40)


def slow(words, *, size):
    split = {word: [word[0], *("##" + c for c in word[1:])] for word in words}
    pieces = sorted({piece for parts in split.values() for piece in parts})
    while len(pieces) < size:
        counts = {}
        for word, parts in split.items():
            for pair in pairwise(parts):
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts or max(counts.values()) < 2:
            break
        left, right = min(counts, key=lambda p: (-counts[p], pieces.index(p[0]), pieces.index(p[1])))
        joined = left + right.removeprefix("##")
        if joined not in pieces:
            pieces.append(joined)
        for parts in split.values():
            at = 0
            while at + 1 < len(parts):
                if (parts[at], parts[at + 1]) == (left, right):
                    parts[at : at + 2] = [joined]
                at += 1
    return pieces
