"""From documents to blocks that are tokenised at once, and from blocks to flat arrays of tokens and sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ptcli.corpus.document import Document
from ptcli.corpus.sentences import sentence_spans
from ptcli.store.memory import Memory
from ptcli.store.pieces import Pieces
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.alignment import token_units
from ptcli.words.contract import Words

BLOCK = 50_000
"""Characters: a longer document is tokenised in blocks of whole sentences."""

TOGETHER = 50_000
"""Characters that are gone through at once; a block may be longer."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document in whole sentences."""

    document: Document
    sentences: np.ndarray  # int64 (S,): where each begins
    ends_document: bool
    units: np.ndarray | None  # int32 (U, 3): first character, end and type of its named units
    num_cut_units: int  # of those that begin here, how many end in another block


@dataclass(frozen=True, slots=True)
class Encoding:
    """The tokens of some blocks. Sentences without a token are gone."""

    tokens: np.ndarray  # int32 (T,)
    word_starts: np.ndarray  # bool (T,)
    sentence_lengths: np.ndarray  # int64 (S,): tokens of each sentence
    document_of_sentence: np.ndarray  # int64 (S,): number of the document within the encoding
    units: np.ndarray | None  # int32 (U, 3): first token, number of tokens and type of each named unit
    num_documents: int  # documents that end here; one that goes on has this number
    num_characters: int
    num_words: int
    num_unaligned: int  # words
    num_cut_units: int  # left out, because a token or a block holds only a part of them


def encodings(
    documents: Iterable[Document], *, words: Words, tokenizer: Tokenizer, language: str
) -> Iterator[Encoding]:
    """Whole documents, tokenised a stretch of about `TOGETHER` characters at a time, in order."""
    return Encoder(words=words, tokenizer=tokenizer, language=language)(documents)


class Encoder:
    """Tokenises documents. What it remembers makes it faster and changes nothing."""

    def __init__(self, *, words: Words, tokenizer: Tokenizer, language: str):
        self._words, self._language = words, language
        self._memory = Memory(words=words, tokenizer=tokenizer)

    def __call__(self, documents: Iterable[Document]) -> Iterator[Encoding]:
        """Whole documents, a stretch of about `TOGETHER` characters at a time, in order."""
        for some in blocks(documents, words=self._words, language=self._language):
            yield _encode(some, self._memory.pieces_of([block.document for block in some]))


def blocks(documents: Iterable[Document], *, words: Words, language: str) -> Iterator[list[Block]]:
    """The documents as blocks, about TOGETHER characters at a time, or one long block."""
    together: list[Block] = []
    held = 0
    for document in documents:
        for block in _cut(document, words, document.language or language):
            together.append(block)
            held += len(block.document.text)
            if held >= TOGETHER:
                yield together
                together, held = [], 0
    if together:
        yield together


def _encode(blocks: list[Block], pieces: Pieces) -> Encoding:
    """Which sentence each token belongs to, by its first character; and the named units as tokens."""
    begins = np.cumsum(pieces.lengths) - pieces.lengths  # the texts laid end to end
    shift = np.repeat(begins, pieces.counts)
    characters = pieces.characters + shift
    num_sentences = np.fromiter((block.sentences.shape[0] for block in blocks), np.int64, len(blocks))
    sentences = np.concatenate([block.sentences for block in blocks]) + np.repeat(begins, num_sentences)
    first_token = np.searchsorted(characters, sentences)
    first_token[0] = 0
    sentence_lengths = np.diff(first_token, append=characters.shape[0])
    document = np.cumsum([0] + [block.ends_document for block in blocks])
    document_of_sentence = np.repeat(document[:-1], num_sentences)
    kept = sentence_lengths > 0
    units, num_cut = _units(blocks, begins, characters, pieces.ends + shift)
    return Encoding(
        tokens=pieces.ids,
        word_starts=pieces.begins_word,
        sentence_lengths=sentence_lengths[kept],
        document_of_sentence=document_of_sentence[kept],
        units=units,
        num_documents=int(document[-1]),
        num_characters=int(pieces.lengths.sum()),
        num_words=int(pieces.words.sum()),
        num_unaligned=int(pieces.unaligned.sum()),
        num_cut_units=num_cut,
    )


def _units(
    blocks: list[Block], begins: np.ndarray, characters: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray | None, int]:
    """The named units as tokens, and how many are left out."""
    named = [_shifted(block.units, at) for block, at in zip(blocks, begins, strict=True) if block.units is not None]
    if not named:
        return None, 0
    spans = np.concatenate(named)
    units = token_units(characters, ends, spans)
    return units, len(spans) - len(units) + sum(block.num_cut_units for block in blocks)


def _cut(document: Document, words: Words, language: str) -> Iterator[Block]:
    text = document.text
    spans = np.array(_sentences(document, language), np.int64).reshape(-1, 2)
    units = words.units(document) if words.makes_units else None
    if len(text) <= BLOCK:
        yield Block(document, spans[:, 0], True, units, 0)
        return
    first = 0
    while first < spans.shape[0]:
        start = spans[first, 0]
        last = max(int(np.searchsorted(spans[:, 1], start + BLOCK, side="right")), first + 1)
        stop = spans[last - 1, 1]
        inside = _words_within(document.words, start, stop)
        part = replace(document, text=text[start:stop], words=inside, start=int(start))
        sentences, ends = spans[first:last, 0] - start, last == spans.shape[0]
        yield Block(part, sentences, ends, *_units_within(units, start, stop))
        first = last


def _sentences(document: Document, language: str) -> list[tuple[int, int]]:
    if document.sentences is None:
        return sentence_spans(document.text, language)
    return list(pairwise((*document.sentences, len(document.text))))


def _words_within(words: np.ndarray | None, start: int, stop: int) -> np.ndarray | None:
    if words is None:
        return None
    inside = words[(words[:, 1] > start) & (words[:, 0] < stop)]
    return np.clip(inside, start, stop) - start


def _units_within(units: np.ndarray | None, start: int, stop: int) -> tuple[np.ndarray | None, int]:
    """Those that lie in [start, stop) whole, and how many begin there but end behind it."""
    if units is None:
        return None, 0
    begun = units[(units[:, 0] >= start) & (units[:, 0] < stop)]
    whole = begun[begun[:, 1] <= stop]
    return _shifted(whole, -start), len(begun) - len(whole)


def _shifted(units: np.ndarray, by: int) -> np.ndarray:
    return units + np.array([by, by, 0])
