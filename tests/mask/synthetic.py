"""Made-up examples: ragged, padded with specials, single and paired, with words of several pieces."""

import numpy as np

from ptcli.mask.examples import Examples
from ptcli.tokenizer.vocabulary import Layout, Vocabulary

IGNORE = -100
MASK, CLS, SEP, PAD, UNK = 7, 8, 9, 10, 11
SIZE = 200  # ids of the vocabulary


def vocabulary(*, size: int = SIZE, mask_token_id: int | None = MASK) -> Vocabulary:
    """Specials in the middle: id 0 is an ordinary token, and so is the last."""
    special = np.zeros(size, bool)
    special[[MASK, CLS, SEP, PAD, UNK]] = True
    return Vocabulary(size, PAD, mask_token_id, CLS, SEP, UNK, special, Layout((CLS,), (SEP,), (SEP,)))


def examples(
    lengths, *, seed: int = 0, pairs: bool = False, word_start_share: float = 0.7, size: int = SIZE
) -> Examples:
    """One example for each number of maskable tokens, [CLS] and [SEP] around, in pairs a [SEP] in the middle.

    A fifth of the words begin a named unit, of one to three words, of either type.
    """
    random = np.random.default_rng(seed)
    ordinary = np.flatnonzero(~vocabulary(size=size).special)
    tokens, maskable, offsets = [], [], [0]
    for length in lengths:
        body = random.choice(ordinary, length)
        row = [CLS, *body, SEP]
        if pairs and length >= 2:
            row.insert(1 + int(random.integers(1, length)), SEP)
        tokens += row
        maskable += [token not in (CLS, SEP) for token in row]
        offsets.append(len(tokens))
    maskable = np.array(maskable, bool)
    begins = random.random(len(tokens)) < word_start_share
    begins[1:] |= ~maskable[:-1]
    unit_starts, unit_types = _named_units(maskable, begins, random)
    return Examples(
        tokens=np.array(tokens, np.int32),
        offsets=np.array(offsets, np.int64),
        maskable=maskable,
        word_starts=begins,
        keys=random.integers(0, 2**63, len(lengths)).astype(np.uint64),
        columns={"unit_starts": unit_starts, "unit_types": unit_types},
    )


def _named_units(maskable, begins, random) -> tuple[np.ndarray, np.ndarray]:
    starts, types = np.zeros(len(maskable), bool), np.zeros(len(maskable), np.uint8)
    if len(maskable):
        chosen = np.flatnonzero(maskable & begins & (random.random(len(maskable)) < 0.2))
        ends = np.append(np.flatnonzero(begins | ~maskable), len(maskable))
        for first, words, kind in zip(
            chosen, random.integers(1, 4, len(chosen)), random.integers(1, 3, len(chosen)), strict=True
        ):
            last = ends[min(np.searchsorted(ends, first, side="right") + words - 1, len(ends) - 1)]
            inside = np.flatnonzero(~maskable[first:last])
            last = first + inside[0] if inside.size else last
            if not types[first:last].any():
                starts[first], types[first:last] = True, kind
    return starts, types


def one_body(word_lengths, *, copies: int, seed: int = 0) -> Examples:
    """The same words `copies` times, each time as another example: the statistics of one fixed example."""
    length = sum(word_lengths)
    row_starts = np.zeros(length + 2, bool)
    row_starts[[0, *(1 + np.cumsum([0, *word_lengths]))]] = True
    row_maskable = np.r_[False, np.ones(length, bool), False]
    random = np.random.default_rng(seed)
    return Examples(
        tokens=np.tile(np.r_[CLS, np.full(length, 20), SEP].astype(np.int32), copies),
        offsets=np.arange(copies + 1, dtype=np.int64) * (length + 2),
        maskable=np.tile(row_maskable, copies),
        word_starts=np.tile(row_starts, copies),
        keys=random.integers(0, 2**63, copies).astype(np.uint64),
    )


def per_example(values: np.ndarray, examples: Examples) -> np.ndarray:
    """Sums of a (N,) array over each example."""
    sums = np.r_[0, np.cumsum(values, dtype=np.int64)]
    return sums[examples.offsets[1:]] - sums[examples.offsets[:-1]]


def take(examples: Examples, chosen) -> Examples:
    """A batch of some of the examples, in that order."""
    places = [np.arange(examples.offsets[e], examples.offsets[e + 1]) for e in chosen]
    flat = np.concatenate(places) if places else np.zeros(0, np.int64)
    return Examples(
        tokens=examples.tokens[flat],
        offsets=np.cumsum([0, *(len(p) for p in places)], dtype=np.int64),
        maskable=examples.maskable[flat],
        word_starts=examples.word_starts[flat],
        keys=examples.keys[np.array(chosen, np.int64)],
        columns={name: column[flat] for name, column in examples.columns.items()},
    )


def words_of(examples: Examples) -> np.ndarray:
    """Number of the word that each maskable position belongs to, -1 elsewhere: written out, as a reference."""
    words, number = np.full(examples.tokens.shape[0], -1), -1
    for e in range(len(examples.keys)):
        inside = False
        for i in range(examples.offsets[e], examples.offsets[e + 1]):
            if examples.maskable[i]:
                number += examples.word_starts[i] or not inside
                words[i] = number
            inside = examples.maskable[i]
    return words
