import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import DataError
from ptcli.pair.bert_exact import BertExact
from tests.packing.documents import documents_of
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import PACKINGS, read


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.integers(0, 9), st.sampled_from(PACKINGS))
def test_a_next_one_is_next_and_no_document_is_left_out(documents, max_length, epoch, packing):
    pairs = read(documents, BertExact(), max_length=max_length, short=0.0, epoch=epoch, packing=packing)
    following = pairs.label == 0
    assert np.all(pairs.document[following, 0] == pairs.document[following, 1])
    assert np.all((pairs.stop[:, 0] == pairs.start[:, 1])[following & pairs.whole])
    filled = np.diff(documents.sentence_offsets[documents.ranges], axis=1)[:, 0] > 0
    assert set(pairs.document[:, 0].tolist()) == set(np.flatnonzero(filled).tolist())
    assert pairs.counts["skipped_one_sentence"] == 0


def test_a_document_of_one_sentence_is_always_random():
    documents = documents_of([[20]] * 400 + [[20, 20]] * 400)
    pairs = read(documents, BertExact(), short=0.0)
    lone = pairs.document[:, 0] < 400
    assert np.all(pairs.label[lone] == 1)
    # Of a document of two, half the pairs of the first sentence are true; the second, put back, is alone.
    assert pairs.label[~lone].mean() == pytest.approx(2 / 3, abs=0.03)


def test_the_random_document_may_be_the_same_with_the_chance_of_ten_tries():
    documents = documents_of([[20] * 2] * 2)
    same, random = 0, 0
    for epoch in range(3000):
        pairs = read(documents, BertExact(), short=0.0, epoch=epoch)
        chosen = pairs.label == 1
        same += int(np.count_nonzero((pairs.document[:, 0] == pairs.document[:, 1]) & chosen))
        random += int(chosen.sum())
    assert 0 < same < 4 * random / 2**10
    alone = read(documents_of([[9] * 40]), BertExact())
    assert np.any(alone.label == 1)


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([[9] * 20], "pair=bert_exact takes .*found: 1"),
        ([[90]] * 20, "each of the 20 documents is one sentence. A blank"),
        ([], "found: 0"),
    ],
)
def test_degenerate_corpora_are_named(lengths, reason):
    with pytest.raises(DataError, match=reason):
        BertExact().check_documents([documents_of(lengths)])


def test_corpora_that_work_pass():
    BertExact().check_documents([documents_of([[9, 9], [3]])])
