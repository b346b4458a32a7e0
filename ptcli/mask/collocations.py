"""N-grams of words that occur together far more often than their parts would by chance: counted over a store.

The measure is that of PMI-Masking (arXiv 2010.01825): log of the n-gram's probability over that of its most probable
cut into shorter ones. Three passes over the text: a table of 8-bit counters that n-grams share, exact counts of those
that may be frequent, scores of those that are. Memory does not grow with the text: of a longer one, documents evenly
spaced over it are read, and where more n-grams are frequent than the tables hold, the least number of occurrences is
raised; both are said.
"""

import logging
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ptcli.compiled import compiled
from ptcli.mask.examples import TokenArrays
from ptcli.randomness import draw
from ptcli.store.documents import Documents

log = logging.getLogger(__name__)

LONGEST = 8
_WORD, _NGRAM = np.uint64(0x57A3F1C2D94E0B86), np.uint64(0x2C9B7E51A0F6D384)  # any constants
_BLOCK = 1 << 20  # tokens that are read at once, about
_MOST_TOKENS = 1 << 26
_MOST_NGRAMS = 1 << 22
_MOST_COUNTERS = 1 << 27
_FULL = 255


def collocations(
    shards: Sequence[TokenArrays],
    documents: Sequence[Documents],
    *,
    special: np.ndarray,
    max_ngram: int,
    min_count: int,
    max_ngrams: int,
    min_score: float = 0.0,
    most_tokens: int = _MOST_TOKENS,
    most_frequent: int = _MOST_NGRAMS,
) -> np.ndarray:
    """The hashes of the `max_ngrams` n-grams of 2 to `max_ngram` words with the highest scores, ascending.

    N-grams lie within a sentence, hold no special id (`special` bool (V,)), occur `min_count` times or more, and have
    a score above `min_score`, in nats.
    uint64 (K,); `word_hash` and `extended` make the same hashes of other text.
    """
    num_tokens = sum(part.num_tokens for part in documents)
    stride = max(1, math.ceil(num_tokens / most_tokens))
    if stride > 1:
        log.info(f"n-grams are counted in one of {stride} documents: the text has {num_tokens:,} tokens")

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return _blocks(shards, documents, special, max_ngram, stride)

    counters = np.zeros(_power_of_two(8 * min(num_tokens, most_tokens), 1 << 16, _MOST_COUNTERS), np.uint8)
    num_words = sum(_count_coarsely(hashes, rooms, counters) for hashes, rooms in blocks())
    least = _least_count(counters, min_count, most_frequent)
    if least > min_count:
        log.info(f"n-grams of {least} occurrences or more are scored, not of {min_count}: too many are as frequent")
    keys, counts, used = np.zeros(1 << 10, np.uint64), np.zeros(1 << 10, np.uint32), 0
    for hashes, rooms in blocks():
        keys, counts, used = _count_exactly(hashes, rooms, counters, least, keys, counts, used)
    scores = np.full(keys.shape[0], -np.inf, np.float32)
    for hashes, rooms in blocks():
        _score(hashes, rooms, keys, counts, least, float(num_words), scores)
    found = np.flatnonzero(scores > min_score)
    if found.shape[0] > max_ngrams:
        found = found[np.argpartition(-scores[found], max_ngrams - 1)[:max_ngrams]]
    return np.sort(keys[found])


def hash_set(hashes: np.ndarray) -> np.ndarray:
    """An open table of hashes for `contains`: uint64, 0 where it is empty."""
    table = np.zeros(_power_of_two(2 * hashes.shape[0], 2, 1 << 40), np.uint64)
    _insert_all(np.ascontiguousarray(hashes, np.uint64), table)
    return table


@compiled
def contains(table, key):
    """Whether a `hash_set` holds a hash."""
    slot = np.int64(key & np.uint64(table.shape[0] - 1))
    while table[slot] != 0:
        if table[slot] == key:
            return True
        slot = (slot + 1) & (table.shape[0] - 1)
    return False


@compiled
def word_hash(tokens, begin, end):
    """The hash of the word of these tokens."""
    value = _WORD
    for i in range(begin, end):
        value = draw(value, np.uint64(tokens[i]))
    return value


@compiled
def extended(value, word):
    """The hash of an n-gram and the word behind it; that of no words is 0. Never 0."""
    value = draw(_NGRAM if value == 0 else value, word)
    return value if value != 0 else np.uint64(1)


def _power_of_two(wanted: int, least: int, most: int) -> int:
    return min(max(1 << max(wanted - 1, 1).bit_length(), least), most)


def _blocks(
    shards: Sequence[TokenArrays], documents: Sequence[Documents], special: np.ndarray, max_ngram: int, stride: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hashes of words, and how many words of the same run, `max_ngram` at most, begin there; a block at a time."""
    for part in documents:
        shard = shards[part.shard]
        ranges = part.ranges[::stride]
        ends = np.cumsum(part.sentence_offsets[ranges[:, 1]] - part.sentence_offsets[ranges[:, 0]])
        cuts = np.searchsorted(ends, np.arange(_BLOCK, ends[-1] if ends.size else 0, _BLOCK)) + 1
        for some in np.split(ranges, np.unique(cuts)):
            if some.shape[0]:
                yield _words_of(
                    np.asarray(shard.tokens),
                    np.asarray(shard.word_starts),
                    part.sentence_offsets,
                    np.ascontiguousarray(some),
                    special,
                    max_ngram,
                )


def _least_count(counters: np.ndarray, min_count: int, most: int) -> int:
    """The smallest number of occurrences, from `min_count`, that at most about `most` n-grams reach."""
    reached = np.bincount(counters, minlength=_FULL + 1)[::-1].cumsum()[::-1]
    least = min_count
    while least < _FULL and reached[least] > most:
        least += 1
    return least


@compiled
def _words_of(tokens, bits, sentence_offsets, ranges, special, max_ngram):
    size = 0
    for d in range(ranges.shape[0]):
        size += sentence_offsets[ranges[d, 1]] - sentence_offsets[ranges[d, 0]]
    hashes = np.empty(size, np.uint64)
    rooms = np.empty(size, np.uint8)
    count = 0
    for d in range(ranges.shape[0]):
        for s in range(ranges[d, 0], ranges[d, 1]):
            i, last = sentence_offsets[s], sentence_offsets[s + 1]
            run = count  # its first word
            while i < last:
                end = i + 1
                while end < last and not (bits[end >> 3] >> (end & 7)) & 1:
                    end += 1
                ordinary = True
                for t in range(i, end):
                    ordinary &= not special[tokens[t]]
                if ordinary:
                    hashes[count] = word_hash(tokens, i, end)
                    count += 1
                if not ordinary or end == last:
                    for w in range(run, count):
                        rooms[w] = min(count - w, max_ngram)
                    run = count
                i = end
    return hashes[:count], rooms[:count]


@compiled
def _count_coarsely(hashes, rooms, counters):
    for w in range(hashes.shape[0]):
        value = np.uint64(0)
        for n in range(rooms[w]):
            value = extended(value, hashes[w + n])
            slot = np.int64(value & np.uint64(counters.shape[0] - 1))
            if counters[slot] < 255:
                counters[slot] += np.uint8(1)
    return hashes.shape[0]


@compiled
def _slot(keys, key):
    """Where a hash lies in an open table, or the empty place for it."""
    slot = np.int64((key >> np.uint64(20)) & np.uint64(keys.shape[0] - 1))
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.shape[0] - 1)
    return slot


@compiled
def _count_exactly(hashes, rooms, counters, least, keys, counts, used):
    """Add to an open table; the table, larger where need be, and how many it holds."""
    for w in range(hashes.shape[0]):
        value = np.uint64(0)
        for n in range(rooms[w]):
            value = extended(value, hashes[w + n])
            if counters[np.int64(value & np.uint64(counters.shape[0] - 1))] < least:
                break  # a longer one is no more frequent
            slot = _slot(keys, value)
            used += keys[slot] == 0
            keys[slot] = value
            counts[slot] += np.uint32(1)
        if 2 * (used + LONGEST) > keys.shape[0]:
            old_keys, old_counts = keys, counts
            keys = np.zeros(2 * old_keys.shape[0], np.uint64)
            counts = np.zeros(2 * old_keys.shape[0], np.uint32)
            for old in range(old_keys.shape[0]):
                if old_keys[old] != 0:
                    slot = _slot(keys, old_keys[old])
                    keys[slot] = old_keys[old]
                    counts[slot] = old_counts[old]
    return keys, counts, used


@compiled
def _score(hashes, rooms, keys, counts, least, num_words, scores):
    best = np.empty(LONGEST + 1, np.float64)
    for w in range(hashes.shape[0]):
        value = np.uint64(0)
        for n in range(1, rooms[w] + 1):
            value = extended(value, hashes[w + n - 1])
            whole = _slot(keys, value)
            if keys[whole] != value or counts[whole] < least:
                break
            if n == 1 or scores[whole] != -np.inf:
                continue
            # The most probable cut into shorter n-grams: all of them are as frequent, so all were counted.
            for j in range(n + 1):
                best[j] = -np.inf
            best[0] = 0.0
            for i in range(n):
                part = np.uint64(0)
                for j in range(i + 1, n + 1):
                    part = extended(part, hashes[w + j - 1])
                    if i == 0 and j == n:
                        break
                    best[j] = max(best[j], best[i] + np.log(counts[_slot(keys, part)] / num_words))
            scores[whole] = np.log(counts[whole] / num_words) - best[n]


@compiled
def _insert_all(hashes, table):
    for h in range(hashes.shape[0]):
        slot = np.int64(hashes[h] & np.uint64(table.shape[0] - 1))
        while table[slot] != 0 and table[slot] != hashes[h]:
            slot = (slot + 1) & (table.shape[0] - 1)
        table[slot] = hashes[h]
