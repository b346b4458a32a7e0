"""Which word each token belongs to, by character offset alone: the same for every kind of tokenizer."""

import numpy as np


def word_starts(
    starts: np.ndarray, ends: np.ndarray, spans: np.ndarray, length_of_text: int
) -> tuple[np.ndarray, int, int]:
    """Where words begin among the tokens, how many words have a token, and how many of those could not be aligned.

    `starts`, `ends`: character offsets of each token, int (n,), ascending; they may include white space before it, and
    several tokens may share a character. `spans`: the words, (m, 2), as `Words.spans` gives them. The result's mask is
    bool (n,). A token of white space alone goes with the word after it. Where a token holds parts of two words, the
    words concerned, and no others, fall back to a word a token.
    """
    assert not ends.size or int(ends.max()) <= length_of_text
    assert not spans.size or int(spans[-1, 1]) <= length_of_text
    begins, present, broken = align(starts, ends, spans)
    return begins, int(present.sum()), int(broken.sum())


def align(starts: np.ndarray, ends: np.ndarray, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `word_starts`, but which of the words have a token and which could not be aligned: bool (m,) each."""
    if not starts.size:
        return np.zeros(0, bool), np.zeros(len(spans), bool), np.zeros(len(spans), bool)
    first, last = words_of_tokens(starts, ends, spans)
    num_words = spans.shape[0]  # number of the place after the last word, too: white space at the end
    broken = _between(first, last, num_words + 1)
    begins = np.empty(first.shape[0], bool)
    begins[0] = True
    np.not_equal(first[1:], last[:-1], out=begins[1:])
    begins |= broken[first] | broken[last]
    present = np.zeros(num_words + 1, bool)
    present[first] = present[last] = True
    present |= broken
    return begins, present[:num_words], broken[:num_words]


def words_of_tokens(starts: np.ndarray, ends: np.ndarray, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the first and the last word of which each token holds a character; int64 (n,) each.

    A token of white space alone has the number of the word after it, or of the place after the last word.
    """
    first = np.searchsorted(spans[:, 1], starts, side="right")
    last = np.searchsorted(spans[:, 0], ends, side="left") - 1
    return first, np.maximum(first, last)


def first_characters(starts: np.ndarray, first_word: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """The first character of each token that is not white space; for white space, that of the word after it."""
    beginnings = np.append(spans[:, 0], 0)  # nothing comes after the last word: the token's own start stands
    return np.maximum(starts, beginnings[first_word])


def token_units(characters: np.ndarray, ends: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The named units as tokens, (m, 3) int32: first token, length, type. Those that cut a token are left out.

    `characters`, `ends`: the first character of each token that is not white space (`first_characters`) and its end.
    `units`: (n, 3) as `Words.units` gives them. Left out is a unit with no token, or one that shares a token with what
    stands before or after it; n - m tells how many.
    """
    first = np.searchsorted(ends, units[:, 0], side="right")  # the first token that ends inside or after it
    last = np.searchsorted(characters, units[:, 1], side="left") - 1  # the last one that begins before its end
    whole = first <= last
    whole[whole] = (characters[first[whole]] >= units[whole, 0]) & (ends[last[whole]] <= units[whole, 1])
    return np.stack((first, last - first + 1, units[:, 2]), axis=1)[whole].astype(np.int32)


def _between(first: np.ndarray, last: np.ndarray, size: int) -> np.ndarray:
    """bool (size,): the words that lie within [first, last] of a token with more than one."""
    change = np.zeros(size + 1, np.int64)
    several = last > first
    np.add.at(change, first[several], 1)
    np.subtract.at(change, last[several] + 1, 1)
    return np.cumsum(change)[:size] > 0
