"""Made-up text that shows whether a model can look anywhere."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError
from ptcli.randomness import draws, key_of

_RULE = 1  # changes with the text that the same settings give
_ONSETS, _VOWELS = "bdfghjklmnprstvwz", "aeiou"
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in _VOWELS]
_MOST_WORDS = len(_SYLLABLES) ** 2


class Recall:
    """Documents of random words in which each has one equal: the word `distance` before or behind it.

    A document is `blocks` times a sentence of `distance` random words followed by the same sentence again. Words are
    drawn evenly from `words` made-up ones, so nothing but looking `distance` words away tells a hidden one. Without
    that the loss is the logarithm of `words`; with it only words whose equal is hidden too cost as much: at a mask
    ratio of 0.15, 0.15 of the logarithm. `documents` is their number.
    """

    language = "en"
    has_gold_words = False

    def __init__(self, *, distance: int = 15, words: int = 200, blocks: int = 2, documents: int = 2000, seed: int = 0):
        self.distance, self.words, self.blocks = distance, words, blocks
        self.number = documents
        self.seed = seed

    def check(self) -> None:
        """Raise ConfigError where a number is out of range."""
        for key, value in (("distance", self.distance), ("blocks", self.blocks), ("documents", self.number)):
            if value < 1:
                raise ConfigError(f"corpus.{key}={value} must be at least 1.")
        if not 2 <= self.words <= _MOST_WORDS:
            raise ConfigError(f"corpus.words={self.words} must be from 2 to {_MOST_WORDS}.")

    def documents(self) -> Iterator[Document]:
        """The documents: a function of the settings alone."""
        words = np.array(
            [_SYLLABLES[n % len(_SYLLABLES)] + _SYLLABLES[n // len(_SYLLABLES)] for n in range(self.words)]
        )
        per_document = self.distance * self.blocks
        for number in range(self.number):
            counters = np.arange(number * per_document, (number + 1) * per_document, dtype=np.uint64)
            drawn = words[draws(key_of(self.seed, "corpus.recall"), counters) % np.uint64(self.words)]
            sentences = (" ".join(block) for block in drawn.reshape(self.blocks, self.distance))
            yield Document("\n\n".join(f"{s}\n\n{s}" for s in sentences), source=f"recall {number}")

    def identity(self) -> dict[str, Any]:
        """The settings and the rule."""
        return {
            "corpus": "recall",
            "rule": _RULE,
            "distance": self.distance,
            "words": self.words,
            "blocks": self.blocks,
            "documents": self.number,
            "seed": self.seed,
        }

    def remarks(self) -> list[str]:
        """Nothing is left out."""
        return []
