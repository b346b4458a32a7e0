"""Where sentences begin and end, by sentencex (Wikimedia's rules for about 300 languages)."""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice, pairwise

from ptcli.errors import ConfigError

LONGEST_SENTENCE = 20_000
"""Characters. Text that shows no sentence end for longer is cut, at white space where there is any."""

# sentencex takes time that grows with the square of the length outside ASCII. Long paragraphs are therefore cut a
# window at a time; what would end in the last _MARGIN of a window is looked at again with what follows it.
_WINDOW, _MARGIN = 8192, 1024
_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n)+")


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Character offsets [start, end) of the sentences: together the whole text, white space with the sentence before.

    A blank line ends a sentence. White space at the beginning belongs to the first sentence. `language` is ISO 639-1.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for paragraph_start, paragraph_end in _paragraphs(text):
        for end in _sentence_ends(text, paragraph_start, paragraph_end, language):
            if not text[start:end].isspace():
                spans.append((start, end))
                start = end
            elif spans:
                spans[-1] = (spans[-1][0], end)
                start = end
    return spans or ([(0, len(text))] if text else [])


def cut(text: str, start: int, limit: int) -> int:
    """Where to cut text[start:] so that at most `limit` characters come before; after white space where it can."""
    if len(text) - start <= limit:
        return len(text)
    for at in range(start + limit, start + limit // 2, -1):
        if text[at - 1].isspace():
            return at
    return start + limit


def check_language(language: str) -> None:
    """Raise ConfigError where `language` is no code of two or three letters: sentencex would take the English rules."""
    if not re.fullmatch(r"[a-z]{2,3}", str(language)):
        raise ConfigError(f"corpus.language={language} is no language code. Write two letters: en, zh, de, fr, ja, ...")


def _paragraphs(text: str) -> Iterable[tuple[int, int]]:
    starts = [0, *(match.end() for match in _PARAGRAPH.finditer(text))] if "\n" in text else [0]
    return pairwise(starts if starts[-1] == len(text) else [*starts, len(text)])


def _sentence_ends(text: str, start: int, end: int, language: str) -> Iterable[int]:
    import sentencex

    if end - start > _WINDOW:
        return _ends_by_windows(text, start, end, language)
    sentences = sentencex.segment(language, text[start:end])  # pyright: ignore[reportAttributeAccessIssue]
    return islice(accumulate(map(len, filter(None, sentences)), initial=start), 1, None)


def _ends_by_windows(text: str, start: int, end: int, language: str) -> Iterator[int]:
    import sentencex

    size = _WINDOW
    before = [start, start]  # where the last two sentences begin: sentencex judges by what stands before, too
    while start < end:
        stop = min(start + size, end)
        sure = end if stop == end else stop - _MARGIN
        at, begun = before[0], start
        for sentence in sentencex.segment(language, text[at:stop]):  # pyright: ignore[reportAttributeAccessIssue]
            at += len(sentence)
            if at > sure:
                break
            if at > start:
                before, start = [before[1], start], at
                yield at
        if start > begun:
            size = _WINDOW
        elif size > LONGEST_SENTENCE:
            start, size = cut(text, start, LONGEST_SENTENCE), _WINDOW
            before = [start, start]
            yield start
        else:
            size = min(2 * size, LONGEST_SENTENCE + _MARGIN)
