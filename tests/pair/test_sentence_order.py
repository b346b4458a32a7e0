import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError, DataError
from ptcli.packing.segment_pair import SegmentPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import BERT, documents_of, lognormal_documents, times_used
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import read


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.sampled_from([0.0, 0.5]), st.integers(0, 9))
def test_the_label_says_whether_the_segments_are_swapped(documents, max_length, short, epoch):
    pairs = read(documents, SentenceOrder(), max_length=max_length, short=short, epoch=epoch)
    assert set(pairs.label.tolist()) <= {0, 1}
    assert np.all(pairs.document[:, 0] == pairs.document[:, 1])
    places = np.arange(len(pairs.label))
    earlier = pairs.label  # the segment that stands first in the text
    assert np.all(pairs.last[places, earlier] <= pairs.first[places, 1 - earlier])
    # Where nothing was dropped, both put back in order are a stretch of the document.
    whole = pairs.whole
    assert np.all(pairs.stop[places, earlier][whole] == pairs.start[places, 1 - earlier][whole])


def test_labels_halve_and_are_counted():
    pairs = read(lognormal_documents(15_000, seed=1), SentenceOrder(), max_length=64)
    assert len(pairs.label) > 40_000
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.01)
    assert pairs.counts["label_swapped"] == pairs.label.sum()
    assert pairs.counts["label_in_order"] == (pairs.label == 0).sum()


def test_lengths_and_cut_edges_hardly_give_the_label_away():
    documents = lognormal_documents(10_000, seed=2)
    made = SegmentPair().index(documents, layout=BERT, pair=SentenceOrder(), max_length=64, seed=0, epoch=0)
    cut = ~np.isin(made.piece_start, documents.sentence_offsets).reshape(-1, 2)  # begins within a sentence
    lengths = np.minimum(made.piece_length.reshape(-1, 2) // 8, 7)
    seen = (lengths[:, 0] * 8 + lengths[:, 1]) * 4 + cut[:, 0] * 2 + cut[:, 1]
    # The best guess from what is seen, learnt on every other pair.
    learnt = np.zeros((256, 2))
    np.add.at(learnt, (seen[::2], made.pair_labels[::2]), 1)
    right = learnt.argmax(axis=1)[seen[1::2]] == made.pair_labels[1::2]
    assert right.mean() < 0.56


def test_every_number_of_sentences_splits_everywhere():
    documents = documents_of([[9] * 4] * 9000)
    pairs = read(documents, SentenceOrder(), max_length=64, short=0.0)
    assert np.all(pairs.whole)
    first_segment = pairs.last[:, 0] - pairs.first[:, 0] + 1
    assert np.bincount(first_segment)[1:] / 9000 == pytest.approx([1 / 3] * 3, abs=0.02)


def test_short_lone_sentences_are_left_out_and_counted_and_long_ones_cut():
    documents = documents_of([[15], [16], [9, 9], [200]])
    made = SegmentPair().index(documents, layout=BERT, pair=SentenceOrder(), max_length=64, seed=0, epoch=0)
    assert made.counts["skipped_one_sentence"] == 1
    assert made.counts["dropped_one_sentence"] == 15
    assert made.counts["cut_sentences"] == 2
    used = times_used(made, 249)
    assert not used[:15].any()
    assert used[15:49].all()


def test_one_document_is_enough():
    SentenceOrder().check_documents([documents_of([[3, 3]])])
    pairs = read(documents_of([[9] * 20]), SentenceOrder())
    assert len(pairs.label)


@pytest.mark.parametrize("lengths", [[[9]] * 20, [[9]], []])
def test_degenerate_corpora_are_named(lengths):
    with pytest.raises(DataError, match=f"nothing to swap.*{len(lengths)} documents"):
        SentenceOrder().check_documents([documents_of(lengths)])
    assert len(read(documents_of(lengths), SentenceOrder()).label) == 0


def test_split_length_is_checked():
    with pytest.raises(ConfigError, match="split_length=1"):
        SentenceOrder(split_length=1)
