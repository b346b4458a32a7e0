"""How like two answers are: the rules of SQuAD (words of English) and of CMRC 2018 (Chinese characters)."""

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)
_CHINESE_PUNCTUATION = frozenset("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")  # the script's own list
_UNITS = re.compile(r"[\u4e00-\u9fa5]|\d+(?:[.,]\d+)*|[^\W\u4e00-\u9fa5]+(?:\.[^\W\u4e00-\u9fa5]+)*|[^\w\s]")


def english_words(text: str) -> list[str]:
    """Words as SQuAD compares them: lower case, without ASCII punctuation and the articles a, an, the."""
    bare = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def english_exact(predicted: str, truth: str) -> float:
    """1 where both are the same words, else 0 (Rajpurkar et al. 2016, arXiv 1606.05250)."""
    return float(english_words(predicted) == english_words(truth))


def english_f1(predicted: str, truth: str) -> float:
    """F1 of the bags of words; where one has no word, 1 if neither has (Rajpurkar et al. 2018, arXiv 1806.03822).

    SQuAD 1.1's script gives 0 to two answers without words; none of its answers is.
    """
    guessed, true = english_words(predicted), english_words(truth)
    if not guessed or not true:
        return float(guessed == true)
    shared = sum((Counter(guessed) & Counter(true)).values())
    return 2 * shared / (len(guessed) + len(true))


def chinese_units(text: str) -> list[str]:
    """Units as CMRC 2018 compares them: Chinese characters one by one, other words whole, without punctuation and case.

    Cui et al. 2019, "A span-extraction dataset for Chinese machine reading comprehension" (arXiv 1810.07366). Its
    script leaves words that are not Chinese to NLTK; ours differ from those in English contractions ("don't") only.
    """
    return _UNITS.findall(_without_punctuation(text))


def chinese_exact(predicted: str, truth: str) -> float:
    """1 where both are the same but for case and punctuation, else 0."""
    return float(_without_punctuation(predicted) == _without_punctuation(truth))


def chinese_f1(predicted: str, truth: str) -> float:
    """F1 of the longest run of units that both hold; 0 where they share none, also where both are empty."""
    guessed, true = chinese_units(predicted), chinese_units(truth)
    shared = _longest_run(guessed, true)
    return 2 * shared / (len(guessed) + len(true)) if shared else 0.0


def _without_punctuation(text: str) -> str:
    return "".join(character for character in text.lower().strip() if character not in _CHINESE_PUNCTUATION)


def _longest_run(first: list[str], second: list[str]) -> int:
    """Length of the longest sequence without gaps that is in both."""
    longest, before = 0, [0] * (len(second) + 1)
    for unit in first:
        here = [0] * (len(second) + 1)
        for place, other in enumerate(second):
            if unit == other:
                here[place + 1] = before[place] + 1
        longest = max(longest, max(here))
        before = here
    return longest
