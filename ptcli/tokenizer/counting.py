"""How often words occur in text."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_CHUNK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3400-\u4dbf\u4e00-\u9fff]+")


def count_words(blocks: Iterable[str], inner: Any, *, longest: int) -> Counter[str]:
    """Words of at most `longest` characters as the normaliser and the pre-tokenizer of `inner` give them.

    Both must cut at white space and treat ideographs one by one: each distinct chunk between them is looked at once.
    """
    chunks: Counter[str] = Counter()
    for block in blocks:
        chunks.update(_CHUNK.findall(block))
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in inner.pre_tokenizer.pre_tokenize_str(inner.normalizer.normalize_str(chunk)):
            if len(word) <= longest:
                words[word] += count
    return words


def most_frequent(counts: Mapping[str, int], *, size: int | None, min_frequency: int) -> list[str]:
    """The words that occur `min_frequency` times, at most `size`: the most frequent first, equal ones in order."""
    found = [word for word, count in counts.items() if count >= min_frequency]
    return sorted(found, key=lambda word: (-counts[word], word))[:size]
