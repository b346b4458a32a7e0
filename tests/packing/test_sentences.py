import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ptcli.packing.sentences import cut_sentences
from tests.packing.documents import documents_of
from tests.packing.strategies import no_deadline, ragged_documents


def sentences_of(documents):
    lengths = np.diff(documents.sentence_offsets)
    return [lengths[first:last].tolist() for first, last in documents.ranges]


@no_deadline
@given(ragged_documents, st.integers(2, 30), st.sampled_from([None, 2, 16]))
def test_the_same_tokens_in_sentences_that_fit(documents, longest, split_length):
    view, counts = cut_sentences(documents, longest=longest, piece=max(1, longest // 2), split_length=split_length)
    before, after = sentences_of(documents), sentences_of(view)
    assert [sum(d) for d in after] == [sum(d) for d in before]
    assert all(1 <= n <= longest for d in after for n in d)
    kept = set(documents.sentence_offsets.tolist())
    assert kept <= set(view.sentence_offsets.tolist())
    if split_length is None:
        assert counts["cut_sentences"] == sum(n > longest for d in before for n in d)
    else:
        assert all(len(d) > 1 or d[0] < split_length for d in after)


def test_what_needs_no_cut_stays_as_it_is():
    documents = documents_of([[3, 4], [5]])
    assert cut_sentences(documents, longest=5, piece=2) == (documents, {"cut_sentences": 0})


def test_cuts_are_even_and_only_counted_in_the_view():
    documents = documents_of([[3, 20, 4], [7], [1], [50]])
    view, counts = cut_sentences(documents._replace(ranges=documents.ranges[:3]), longest=10, piece=7, split_length=6)
    assert sentences_of(view) == [[3, 6, 7, 7, 4], [3, 4], [1]]
    assert counts == {"cut_sentences": 2}


def test_an_empty_sentence_beside_a_lone_one_does_not_count():
    view, _ = cut_sentences(documents_of([[0, 20, 0], [0]]), longest=30, piece=15, split_length=16)
    assert sentences_of(view) == [[10, 10]]
