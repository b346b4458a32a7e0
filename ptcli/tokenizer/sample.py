"""A bounded, even sample of a corpus."""

from collections.abc import Iterable, Iterator

import numpy as np

from ptcli.corpus.document import Document
from ptcli.corpus.sentences import cut
from ptcli.randomness import draws, key_of

_BLOCK = 2000  # characters
_SHRINK = 0.9


def sample(documents: Iterable[Document], *, characters: int) -> tuple[list[str], int]:
    """Blocks of text of at most `characters` in all, spread evenly over the corpus and in its order; and its length.

    A corpus that is not longer comes whole. Which blocks are taken depends on their number alone, so the sample of a
    corpus is always the same. Memory is bounded by `characters`.
    """
    kept: list[tuple[float, str]] = []
    held = total = 0
    threshold = 1.0
    for draw, block in zip(_draws(), _blocks(documents), strict=False):
        total += len(block)
        if draw >= threshold:
            continue
        kept.append((draw, block))
        held += len(block)
        while held > characters:
            threshold *= _SHRINK
            kept = [(draw, block) for draw, block in kept if draw < threshold]
            held = sum(len(block) for _, block in kept)
    return [block for _, block in kept], total


def _blocks(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        start = 0
        while start < len(document.text):
            end = cut(document.text, start, _BLOCK)
            yield document.text[start:end]
            start = end


def _draws() -> Iterator[float]:
    key, first, step = key_of("tokenizer.sample"), 0, 4096
    while True:
        yield from (draws(key, np.arange(first, first + step, dtype=np.uint64)) / 2**64).tolist()
        first += step
