import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.packing.best_fit import BestFit
from ptcli.packing.fill_gaps import fill_gaps
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import BERT, check_index, documents_of, examples, lognormal_documents, same
from tests.packing.strategies import no_deadline

# Documents of a bit over half a row of 64, in short sentences: gaps and places to cut are many.
_over_half = st.tuples(st.integers(33, 46), st.integers(1, 6), st.integers(0, 5)).map(
    lambda drawn: [drawn[1]] * ((drawn[0] - drawn[2]) // drawn[1]) + [1 + drawn[2]]
)
_any = st.lists(st.integers(1, 15), min_size=1, max_size=16)
some_documents = st.tuples(st.lists(_over_half, min_size=4, max_size=40), st.lists(_any, max_size=6)).map(
    lambda drawn: documents_of([*drawn[0], *drawn[1]])
)


def index(documents, *, cut=True, max_length=64, window=1.0, epoch=0, pair=None):
    packing = BestFit(sentence_window=window, cut_to_fill=cut)
    return packing.index(documents, layout=BERT, pair=pair or NoPair(), max_length=max_length, seed=0, epoch=epoch)


def web_documents(num_documents, seed=0):
    """A bit over half of 512 in sentences of about 24 tokens: such are the texts of a sample of C4."""
    generator = np.random.default_rng(seed)
    return documents_of([generator.integers(18, 31, 12).tolist() for _ in range(num_documents)])


@no_deadline
@given(some_documents, st.integers(20, 80), st.sampled_from([0.0, 1.0]), st.integers(0, 5))
def test_every_token_once_in_no_more_rows(documents, max_length, window, epoch):
    made = index(documents, max_length=max_length, window=window, epoch=epoch)
    check_index(made, documents, BERT, max_length)
    without = index(documents, cut=False, max_length=max_length, window=window, epoch=epoch)
    assert made.num_rows <= without.num_rows
    assert made.num_examples == without.num_examples + made.counts["cut_to_fill"]


@no_deadline
@given(some_documents, st.integers(0, 5))
def test_cuts_are_at_the_ends_of_sentences_and_leave_no_scraps(documents, epoch):
    before = {start: length for e in examples(index(documents, cut=False, epoch=epoch)) for start, length, _ in e}
    made = index(documents, epoch=epoch)
    parts = [(start, length) for example in examples(made) for start, length, _ in example]
    new = [(start, length) for start, length in parts if before.get(start) != length]
    assert {start for start, _ in new if start not in before} <= set(documents.sentence_offsets.tolist())
    assert len([start for start, _ in new if start not in before]) == made.counts["cut_to_fill"]
    assert all(length >= 8 for _, length in new)


def test_documents_of_a_bit_over_half_a_row_fill_rows():
    documents = web_documents(1500)
    without, made = (index(documents, cut=cut, max_length=512) for cut in (False, True))
    fill = [i.counts["tokens"] / (i.num_rows * 512) for i in (without, made)]
    assert fill[0] < 0.6
    assert fill[1] > 0.94
    assert made.counts["cut_to_fill"] < 700


def test_rows_that_are_full_stay_as_they_are():
    documents = lognormal_documents(2000, seed=1)
    without, made = (index(documents, cut=cut, max_length=512, window=0.1) for cut in (False, True))
    assert made.counts["cut_to_fill"] == 0
    assert same(made, without) or made.counts == without.counts | {"cut_to_fill": 0}
    assert np.array_equal(made.piece_start, without.piece_start)


def test_a_document_without_a_place_to_cut_stays_whole():
    documents = documents_of([[40]] * 30)
    made = index(documents)
    assert made.num_rows == 30
    assert made.counts["cut_to_fill"] == 0


def test_gaps_are_filled_by_hand():
    # Three rows of 34 with special tokens, of 64: the third goes into two gaps of 30, cut after 16 and 16 tokens.
    start, length = np.array([0, 32, 64]), np.array([32, 32, 32])
    arguments = (start, length, np.arange(4), np.arange(0, 97, 16))
    start, length, rows, cuts = fill_gaps(*arguments, special=2, capacity=64, key=np.uint64(1))
    assert cuts == 1
    assert rows.tolist() == [0, 2, 4]
    assert sorted(length.tolist()) == [16, 16, 32, 32]


def test_nothing_is_cut_where_no_row_is_saved():
    made = index(documents_of([[16, 16]] * 2))
    assert made.num_rows == 2
    assert made.counts["cut_to_fill"] == 0


def test_other_documents_are_cut_in_another_epoch():
    documents = web_documents(300)
    begins = set(documents.sentence_offsets[documents.ranges[:, 0]].tolist())
    cut = [set(index(documents, max_length=512, epoch=e).piece_start.tolist()) - begins for e in (0, 1)]
    assert len(cut[0] & cut[1]) < 0.6 * len(cut[0])  # two in five documents are cut: chance alone makes 0.4
    assert same(index(documents, max_length=512), index(documents, max_length=512))


def test_pairs_are_never_cut():
    documents = web_documents(200)
    cut, whole = (index(documents, cut=c, max_length=512, pair=SentenceOrder()) for c in (True, False))
    assert same(cut, whole)


def test_nothing_to_fill():
    nothing = np.empty(0, np.int64)
    *arrays, cuts = fill_gaps(
        nothing, nothing, np.zeros(1, np.int64), np.zeros(1, np.int64), special=2, capacity=64, key=np.uint64(0)
    )
    assert [len(array) for array in arrays] == [0, 0, 1]
    assert cuts == 0


@pytest.mark.parametrize("max_length", [3, 5, 9])
def test_rows_too_short_to_cut_for(max_length):
    documents = documents_of([[1, 2, 1, 3, 2]] * 9)
    check_index(index(documents, max_length=max_length), documents, BERT, max_length)
