"""Pieces of text with their tokens and words, as flat arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ptcli.corpus.document import Document
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.alignment import align, first_characters, words_of_tokens
from ptcli.words.contract import Words

_TOGETHER = 1 << 12  # pieces that the tokenizer is given as one text


class Pieces(NamedTuple):
    """Tokens and words of some stretches of text, one after the other. Characters count from each piece's beginning."""

    counts: np.ndarray  # int64 (P,): tokens of each piece
    lengths: np.ndarray  # int64 (P,): characters
    words: np.ndarray  # int64 (P,): words with a token
    unaligned: np.ndarray  # int64 (P,): of these, how many could not be aligned
    ids: np.ndarray  # int32 (T,)
    characters: np.ndarray  # int32 (T,): the first one of each token that is not white space
    ends: np.ndarray  # int32 (T,)
    begins_word: np.ndarray  # bool (T,)


def pieces_of(documents: Sequence[Document], *, words: Words, tokenizer: Tokenizer) -> Pieces:
    """Each document as a piece."""
    lengths = np.fromiter((len(document.text) for document in documents), np.int64, len(documents))
    bases = np.cumsum(lengths) - lengths  # the texts laid end to end
    encoded = tokenizer.encode([document.text for document in documents])
    counts = np.fromiter((ids.shape[0] for ids, _, _ in encoded), np.int64, len(encoded))
    ids, starts, ends = (np.concatenate([each[part] for each in encoded]) for part in range(3))
    shift = np.repeat(bases, counts)
    found = [words.spans(document) for document in documents]
    num_words = np.fromiter(map(len, found), np.int64, len(found))
    spans = np.concatenate(found) + np.repeat(bases, num_words)[:, None]
    return _aligned(lengths, counts, num_words, ids, starts + shift, ends + shift, spans)


def pieces_apart(texts: Sequence[str], *, words: Words, tokenizer: Tokenizer) -> Pieces:
    """Each text as a piece, for words of which nothing reaches over a space; none holds white space."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    bases = np.cumsum(lengths) - lengths
    encoded = tokenizer.encode(texts, remember=False)
    counts = np.fromiter((ids.shape[0] for ids, _, _ in encoded), np.int64, len(encoded))
    ids, starts, ends = (np.concatenate([each[part] for each in encoded]) for part in range(3))
    shift = np.repeat(bases, counts)
    spans = words.spans(Document(" ".join(texts)))
    owner = np.searchsorted(bases + np.arange(len(texts)), spans[:, 0], side="right") - 1
    num_words = np.bincount(owner, minlength=len(texts))
    return _aligned(lengths, counts, num_words, ids, starts + shift, ends + shift, spans - owner[:, None])


def pieces_behind_spaces(texts: Sequence[str], *, words: Words, tokenizer: Tokenizer) -> Pieces:
    """Texts of one space and what stands behind it, for a tokenizer and words of which nothing reaches over a space."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    bases = np.cumsum(lengths) - lengths
    some = ["".join(texts[first : first + _TOGETHER]) for first in range(0, len(texts), _TOGETHER)]
    encoded = tokenizer.encode(some, remember=False)
    ids, starts, ends = (np.concatenate([each[part] for each in encoded]) for part in range(3))
    before = np.cumsum([0] + [len(text) for text in some[:-1]])
    shift = np.repeat(before, [len(each[0]) for each in encoded])
    starts, ends = starts + shift, ends + shift
    spans = words.spans(Document("".join(some)))
    counts, num_words = (
        np.bincount(np.searchsorted(bases, begins, side="right") - 1, minlength=len(texts))
        for begins in (starts, spans[:, 0])
    )
    return _aligned(lengths, counts, num_words, ids, starts, ends, spans)


def _aligned(
    lengths: np.ndarray,
    counts: np.ndarray,
    num_words: np.ndarray,
    ids: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    spans: np.ndarray,
) -> Pieces:
    """Pieces from the tokens and words of their texts laid end to end."""
    bases, stops = np.cumsum(lengths) - lengths, np.cumsum(lengths)
    # White space at the end of a text has no word after it: it gets an empty one, lest it go with the next text's.
    places = np.cumsum(num_words) + np.arange(len(lengths))
    spans = np.insert(spans, np.cumsum(num_words), np.stack((stops, stops), axis=1), axis=0)
    begins_word, present, unaligned = align(starts, ends, spans)
    first_word, _ = words_of_tokens(starts, ends, spans)
    characters = first_characters(starts, first_word, spans)
    characters = np.where(characters < np.repeat(stops, counts), characters, starts)
    present[places] = unaligned[places] = False
    shift = np.repeat(bases, counts)
    owner = np.repeat(np.arange(len(lengths)), num_words + 1)
    return Pieces(
        counts=counts,
        lengths=lengths,
        words=np.bincount(owner[present], minlength=len(lengths)),
        unaligned=np.bincount(owner[unaligned], minlength=len(lengths)),
        ids=ids,
        characters=(characters - shift).astype(np.int32),
        ends=(ends - shift).astype(np.int32),
        begins_word=begins_word,
    )


def joined(parts: Sequence[Pieces]) -> Pieces:
    """The pieces of all parts."""
    return Pieces(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
