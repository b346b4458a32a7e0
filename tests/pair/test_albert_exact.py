import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import DataError
from ptcli.pair.albert_exact import AlbertExact
from tests.packing.documents import documents_of
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import PACKINGS, read


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.integers(0, 9), st.sampled_from(PACKINGS))
def test_in_order_is_in_order_and_no_document_is_left_out(documents, max_length, epoch, packing):
    pairs = read(documents, AlbertExact(), max_length=max_length, short=0.0, epoch=epoch, packing=packing)
    in_order = pairs.label == 0
    assert np.all(pairs.document[in_order, 0] == pairs.document[in_order, 1])
    assert np.all((pairs.stop[:, 0] == pairs.start[:, 1])[in_order & pairs.whole])
    filled = np.diff(documents.sentence_offsets[documents.ranges], axis=1)[:, 0] > 0
    assert set(pairs.document[:, 0].tolist()) == set(np.flatnonzero(filled).tolist())


def test_a_lone_sentence_takes_another_document_and_is_called_swapped():
    documents = documents_of([[20]] * 400 + [[20, 20]] * 4000)
    pairs = read(documents, AlbertExact(), short=0.0)
    lone = pairs.document[:, 0] < 400
    assert np.all(pairs.label[lone] == 1)
    assert np.mean(pairs.document[lone, 0] != pairs.document[lone, 1]) > 0.99
    assert pairs.label[~lone].mean() == pytest.approx(0.5, abs=0.03)
    assert np.all(pairs.document[~lone, 0] == pairs.document[~lone, 1])
    swapped = ~lone & (pairs.label == 1)
    assert np.all(pairs.stop[swapped, 1] == pairs.start[swapped, 0])


@pytest.mark.parametrize("lengths", [[[90]] * 20, [[9, 0]], []])
def test_degenerate_corpora_are_named(lengths):
    with pytest.raises(DataError, match=f"nothing to swap.*{len(lengths)} documents"):
        AlbertExact().check_documents([documents_of(lengths)])


def test_one_document_of_two_sentences_is_enough():
    AlbertExact().check_documents([documents_of([[3, 3]])])
    assert len(read(documents_of([[9] * 20]), AlbertExact()).label)
