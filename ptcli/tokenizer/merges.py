"""Learning the pieces of a WordPiece vocabulary from counted words."""

import heapq
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

PREFIX = "##"  # of a piece that does not begin a word


def learn_pieces(words: Mapping[str, int], *, size: int, min_frequency: int) -> tuple[list[str], int]:
    """At most `size` pieces for the counted words, and how many kinds of characters had no room.

    The characters come first, the frequent ones where there are too many; then, again and again, the most frequent
    pair of neighbouring pieces becomes one, until none occurs `min_frequency` times (byte pair encoding, Sennrich et
    al., arXiv 1508.07909, which is how WordPiece vocabularies are made in practice). Equal counts go by the order in
    which pieces were made: the same words give the same pieces, whatever their order, on any machine.
    """
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for piece in _characters(word):
            characters[piece] += count
    pieces = sorted(sorted(characters, key=lambda piece: (-characters[piece], piece))[:size])
    numbers = {piece: number for number, piece in enumerate(pieces)}
    split = [
        ([numbers[piece] for piece in _characters(word)], count)
        for word, count in sorted(words.items())
        if all(piece in numbers for piece in _characters(word))
    ]
    _merge(split, pieces, numbers, size=size, min_frequency=min_frequency)
    return pieces, len(characters) - min(len(characters), size)


def _merge(
    words: list[tuple[list[int], int]], pieces: list[str], numbers: dict[str, int], *, size: int, min_frequency: int
) -> None:
    counts: Counter[tuple[int, int]] = Counter()
    where: dict[tuple[int, int], set[int]] = {}
    for index, (word, count) in enumerate(words):
        for pair in pairwise(word):
            counts[pair] += count
            where.setdefault(pair, set()).add(index)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    while heap and len(pieces) < size:
        negative, pair = heapq.heappop(heap)
        count = counts[pair]
        if count < min_frequency:
            continue
        if count != -negative:  # it changed since it was put there: look at it again in its turn
            heapq.heappush(heap, (-count, pair))
            continue
        joined = pieces[pair[0]] + pieces[pair[1]].removeprefix(PREFIX)
        new = numbers.setdefault(joined, len(pieces))
        if new == len(pieces):
            pieces.append(joined)
        grown: set[tuple[int, int]] = set()
        for index in where.pop(pair):
            word, times = words[index]
            for old in pairwise(word):
                counts[old] -= times
            word[:] = _replaced(word, pair, new)
            for now in pairwise(word):
                counts[now] += times
                if new in now:
                    where.setdefault(now, set()).add(index)
                    grown.add(now)
        for now in grown:
            heapq.heappush(heap, (-counts[now], now))


def _replaced(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    result: list[int] = []
    at = 0
    while at < len(word):
        if at + 1 < len(word) and word[at] == pair[0] and word[at + 1] == pair[1]:
            result.append(new)
            at += 2
        else:
            result.append(word[at])
            at += 1
    return result


def _characters(word: str) -> list[str]:
    return [word[0], *(PREFIX + character for character in word[1:])]
