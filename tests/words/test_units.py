import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.document import Document
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.alignment import first_characters, token_units, words_of_tokens
from ptcli.words.unicode import Unicode
from ptcli.words.units import NO_UNITS, cut_at_units
from tests.tokenizer.recipes import mixed


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return WordPiece(vocab_size=120).build(mixed(), cache=tmp_path_factory.mktemp("tokenizer"))


def disjoint(cuts, length):
    """Every second stretch between the cuts."""
    points = sorted({min(c, length) for c in cuts})
    return np.array([(a, b, 0) for a, b in zip(points[::2], points[1::2], strict=False)], np.int32).reshape(-1, 3)


def test_cut_by_hand():
    spans = np.array([[0, 5], [6, 9], [9, 10]], np.int32)
    units = np.array([[2, 9, 0], [9, 10, 1]], np.int32)
    assert cut_at_units(spans, units).tolist() == [[0, 2], [2, 5], [6, 9], [9, 10]]
    assert cut_at_units(spans, NO_UNITS).tolist() == spans.tolist()
    assert cut_at_units(spans[:0], units).shape == (0, 2)


@settings(deadline=None)
@given(
    text=st.text(st.sampled_from("ab ,中\n"), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=8),
)
def test_units_are_of_whole_words_and_nothing_is_lost(text, cuts):
    spans = Unicode().spans(Document(text))
    units = disjoint(cuts, len(text))
    words = cut_at_units(spans, units)
    assert "".join(text[a:b] for a, b in words) == "".join(text.split())
    assert (words[:, 0] < words[:, 1]).all()
    assert (words[1:, 0] >= words[:-1, 1]).all()
    for start, end, _ in units:
        assert not any(a < border < b for a, b in words for border in (start, end))
    assert set(map(tuple, spans)) <= {
        (a, b) for a in [*spans[:, 0], *words[:, 0]] for b in [*spans[:, 1], *words[:, 1]]
    }


def test_token_units_by_hand():
    # "ab", " cd", "e", ",f" of "ab cde,f": first characters that are not white space, and ends
    characters, ends = np.array([0, 3, 5, 6]), np.array([2, 5, 6, 8])
    units = np.array([[0, 2, 1], [3, 6, 0], [6, 7, 0]])
    assert token_units(characters, ends, units).tolist() == [[0, 1, 1], [1, 2, 0]]  # "," shares its token with "f"
    assert token_units(characters, ends, np.array([[0, 6, 1]])).tolist() == [[0, 3, 1]]
    assert token_units(characters, ends, np.array([[4, 6, 0]])).shape == (0, 3)
    assert token_units(characters, ends, NO_UNITS).shape == (0, 3)
    assert token_units(characters[:0], ends[:0], units).shape == (0, 3)


@settings(deadline=None)
@given(
    text=st.text(st.sampled_from("abunhalis ,中\n\x00\u0301"), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=8),
)
def test_token_units_against_the_rule_written_out(tokenizer, text, cuts):
    spans = Unicode().spans(Document(text))
    units = disjoint(cuts, len(text))
    units = np.array([(a, b, k) for a, b, k in units if text[a:b].strip() == text[a:b]], np.int32).reshape(-1, 3)
    _, starts, ends = tokenizer.encode([text])[0]
    first, _ = words_of_tokens(starts, ends, spans)
    characters = first_characters(starts, first, spans)
    expected = []
    for start, end, kind in units:
        shared = [text[max(start, a) : min(end, b)].strip() for a, b in zip(starts, ends, strict=True)]
        inside = [number for number, held in enumerate(shared) if held]
        if inside and all(start <= characters[i] and ends[i] <= end for i in inside):
            expected.append([inside[0], len(inside), kind])
    assert token_units(characters, ends, units).tolist() == expected
