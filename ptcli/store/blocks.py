"""From documents to blocks that are tokenised at once, and from blocks to flat arrays of tokens and sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ptcli.corpus.document import Document
from ptcli.corpus.sentences import sentence_spans
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.words.alignment import first_characters, word_starts, words_of_tokens
from ptcli.words.contract import Words

BLOCK = 50_000
"""Characters: a longer document is tokenised in blocks of whole sentences."""

BATCH = 200_000
"""Characters that are gone through together."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document in whole sentences."""

    document: Document
    sentences: np.ndarray  # int64 (S,): where each begins
    ends_document: bool


@dataclass(frozen=True, slots=True)
class Encoding:
    """The tokens of a batch of blocks. Sentences without a token are gone."""

    tokens: np.ndarray  # int32 (T,)
    word_starts: np.ndarray  # bool (T,)
    sentence_lengths: np.ndarray  # int64 (S,): tokens of each sentence
    document_of_sentence: np.ndarray  # int64 (S,): number of the document within the batch
    num_documents: int  # documents that end in the batch; one that goes on has this number
    num_words: int
    num_unaligned: int


def blocks(documents: Iterable[Document], *, language: str) -> Iterator[list[Block]]:
    """The documents in batches of blocks, in order; a batch holds about BATCH characters, or one long block."""
    batch: list[Block] = []
    held = 0
    for document in documents:
        for block in _cut(document, language):
            batch.append(block)
            held += len(block.document.text)
            if held >= BATCH:
                yield batch
                batch, held = [], 0
    if batch:
        yield batch


def encode(batch: list[Block], *, words: Words, tokenizer: Tokenizer) -> Encoding:
    """Tokenise a batch: which sentence and which word each token belongs to, by its first character."""
    texts = [block.document.text for block in batch]
    lengths = np.array([len(text) for text in texts], np.int64)
    begins = np.cumsum(lengths) - lengths  # the texts laid end to end
    encoded = tokenizer.encode(texts)
    counts = np.array([ids.shape[0] for ids, _, _ in encoded], np.int64)
    shift = np.repeat(begins, counts)
    tokens = np.concatenate([ids for ids, _, _ in encoded])
    starts = np.concatenate([starts for _, starts, _ in encoded]) + shift
    ends = np.concatenate([ends for _, _, ends in encoded]) + shift
    spans = np.concatenate([words.spans(block.document) + at for block, at in zip(batch, begins, strict=True)])
    begins_word, num_words, num_unaligned = word_starts(starts, ends, spans, int(lengths.sum()))

    if tokens.size:  # white space at the end of a text has no word after it: the next text begins its own
        begins_word[(np.cumsum(counts) - counts)[counts > 0]] = True

    sentences = np.concatenate([block.sentences + at for block, at in zip(batch, begins, strict=True)])
    first_word, _ = words_of_tokens(starts, ends, spans)
    characters = first_characters(starts, first_word, spans)
    characters = np.minimum(characters, np.repeat(begins + lengths - 1, counts))
    sentence = np.maximum(np.searchsorted(sentences, characters, side="right") - 1, 0)
    sentence_lengths = np.bincount(sentence, minlength=sentences.shape[0])
    document = np.cumsum([0] + [block.ends_document for block in batch])
    document_of_sentence = np.repeat(document[:-1], [block.sentences.shape[0] for block in batch])
    kept = sentence_lengths > 0
    return Encoding(
        tokens=tokens,
        word_starts=begins_word,
        sentence_lengths=sentence_lengths[kept],
        document_of_sentence=document_of_sentence[kept],
        num_documents=int(document[-1]),
        num_words=num_words,
        num_unaligned=num_unaligned,
    )


def _cut(document: Document, language: str) -> Iterator[Block]:
    text = document.text
    spans = np.array(sentence_spans(text, language), np.int64).reshape(-1, 2)
    if len(text) <= BLOCK:
        yield Block(document, spans[:, 0], ends_document=True)
        return
    first = 0
    while first < spans.shape[0]:
        start = spans[first, 0]
        last = max(int(np.searchsorted(spans[:, 1], start + BLOCK, side="right")), first + 1)
        stop = spans[last - 1, 1]
        part = Document(text[start:stop], words=_words_within(document.words, start, stop), source=document.source)
        yield Block(part, spans[first:last, 0] - start, ends_document=last == spans.shape[0])
        first = last


def _words_within(words: np.ndarray | None, start: int, stop: int) -> np.ndarray | None:
    if words is None:
        return None
    inside = words[(words[:, 1] > start) & (words[:, 0] < stop)]
    return np.clip(inside, start, stop) - start
