"""What a packing gives a pair, what it gets back, and what every pair is."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ptcli.errors import ConfigError
from ptcli.randomness import draw
from ptcli.store.documents import Documents


@dataclass(frozen=True, slots=True)
class Chunks:
    """Stretches of sentences, C of them, each of which becomes one pair. Sentences are counted over the whole shard.

    The first segment may take [first, split) and the second [split, end). Where `elsewhere` is set the packing has put
    [split, end) back, to be used by the next chunk, and the second segment must come from another place.
    """

    document: np.ndarray  # int64 (C,): row of Documents.ranges
    first: np.ndarray  # int64 (C,)
    split: np.ndarray  # int64 (C,); equal to `end` where there is nothing for a second segment
    end: np.ndarray  # int64 (C,)
    target: np.ndarray  # int64 (C,): tokens that both segments together aim at
    elsewhere: np.ndarray  # bool (C,)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two segments and a label for each chunk, as token offsets of the shard; not yet truncated."""

    start: np.ndarray  # int64 (C, 2): first token of each segment
    length: np.ndarray  # int64 (C, 2): tokens of each segment, at least 1
    label: np.ndarray  # int64 (C,), in [0, num_labels)
    counts: dict[str, int] = field(default_factory=dict)  # "repeated_<reason>": tokens that also stand in another pair


class Pair(Protocol):
    """A choice of `pair=`: which two segments an example holds, and what is asked about them."""

    num_labels: int  # 0: nothing is asked
    segments: int  # 1 or 2
    label_names: tuple[str, ...]
    split_length: int | None
    """Tokens from which a document of one sentence is cut in two; a shorter one is left out and counted, and every
    chunk has at least two sentences. None: chunks of one sentence come as they are, with `split` equal to `end`."""

    def check_documents(self, documents: list[Documents]) -> None:
        """Raise DataError where no example of every label can be made of these documents (one item a shard)."""
        ...

    def second_elsewhere(self, documents: Documents, *, key: np.uint64) -> np.ndarray | None:
        """Which chunks take their second segment from elsewhere, by the sentence they begin at: bool (S,); None: none.

        `documents` is what `make` will see too.
        """
        ...

    def make(self, chunks: Chunks, documents: Documents, *, key: np.uint64) -> Pairs:
        """The pairs of these chunks, one for each, in order."""
        ...


def can_split(documents: Documents, *, split_length: int | None) -> bool:
    """Whether some document has two sentences with tokens, or one of at least `split_length` tokens."""
    filled = np.concatenate([[0], np.cumsum(np.diff(documents.sentence_offsets) > 0)])
    first, last = documents.ranges[:, 0], documents.ranges[:, 1]
    if np.any(filled[last] - filled[first] >= 2):
        return True
    tokens = documents.sentence_offsets[last] - documents.sentence_offsets[first]
    return split_length is not None and bool(np.any(tokens >= split_length))


def checked_split_length(value: int) -> int:
    """`value`, or ConfigError where it leaves a segment without a token."""
    if value < 2:
        raise ConfigError(f"pair.split_length={value}: two segments need 2 tokens. Use 2 or more.")
    return value


def substream(key: np.uint64, number: int) -> np.uint64:
    """The key of stream `number` under `key`, as the uint64 that compiled loops need (numba returns a plain int)."""
    return np.uint64(draw(key, np.uint64(number)))
