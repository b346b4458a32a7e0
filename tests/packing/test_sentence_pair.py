import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.sentence_pair import SentencePair
from ptcli.pair.bert_exact import BertExact
from ptcli.pair.next_sentence import NextSentence
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import (
    BERT,
    ROBERTA,
    check_index,
    documents_of,
    examples,
    lognormal_documents,
    same,
    times_used,
)
from tests.packing.strategies import no_deadline, ragged_documents

PAIRS = [NoPair(), SentenceOrder(), NextSentence(), BertExact()]


def index(documents, pair=None, *, max_length=64, seed=0, epoch=0, layout=BERT):
    return SentencePair().index(
        documents, layout=layout, pair=pair or NoPair(), max_length=max_length, seed=seed, epoch=epoch
    )


@no_deadline
@given(ragged_documents, st.sampled_from(PAIRS), st.integers(6, 60), st.integers(0, 9))
def test_every_token_is_used_or_counted(documents, pair, max_length, epoch):
    made = index(documents, pair, max_length=max_length, epoch=epoch, layout=ROBERTA)
    check_index(made, documents, ROBERTA, max_length)
    assert np.all(np.diff(made.row_examples) == 1)
    assert np.all(np.diff(made.example_pieces) == pair.segments)


@no_deadline
@given(ragged_documents, st.integers(0, 3))
def test_alone_each_sentence_is_an_example(documents, epoch):
    made = index(documents, max_length=100, epoch=epoch)
    bounds = np.unique(documents.sentence_offsets)
    assert np.array_equal(made.piece_start, bounds[:-1])
    assert np.array_equal(made.piece_length, np.diff(bounds))
    assert np.all(made.pair_labels == IGNORE_INDEX)
    assert same(made, index(documents, max_length=100, epoch=epoch + 1))


def test_only_the_sentences_of_a_view_are_read():
    whole = documents_of([[5, 6], [7], [8, 9, 10]])
    made = index(whole._replace(ranges=np.array([[1, 2], [4, 6]])))
    assert made.piece_length.tolist() == [6, 9, 10]
    assert made.piece_start.tolist() == [5, 26, 35]


@pytest.mark.parametrize("pair", PAIRS[1:], ids=lambda pair: type(pair).__name__)
def test_each_segment_is_one_natural_sentence(pair):
    documents = documents_of([[9, 7, 8, 6, 5] * 3, [10, 11], [20, 3, 4]] * 30)
    made = index(documents, pair)
    pieces = set(
        zip(documents.sentence_offsets[:-1].tolist(), np.diff(documents.sentence_offsets).tolist(), strict=True)
    )
    assert {(start, length) for example in examples(made) for start, length, _ in example} <= pieces


def test_neighbours_are_taken_two_by_two_and_a_lone_last_one_with_the_one_before():
    documents = documents_of([[9] * 4, [9] * 5])
    made = index(documents, SentenceOrder())
    used = times_used(made, documents.num_tokens).reshape(-1, 9)[:, 0]
    assert used.tolist() == [1, 1, 1, 1, 1, 1, 1, 2, 1]
    assert made.counts["repeated_last"] == 9
    assert made.num_examples == 5


def test_labels_halve_in_documents_of_any_number_of_sentences():
    for sentences in (2, 3, 4, 7):
        documents = documents_of([[9] * sentences] * 8000)
        for pair in (SentenceOrder(), NextSentence()):
            labels = index(documents, pair).pair_labels
            assert labels.mean() == pytest.approx(0.5, abs=0.02), (sentences, pair)


def test_long_sentences_are_cut_and_long_pairs_truncated():
    documents = documents_of([[200, 40, 40]] * 20)
    made = index(documents, SentenceOrder())
    check_index(made, documents, BERT, 64)
    assert made.counts["cut_sentences"] == 20
    assert made.counts["dropped_truncated"] > 0
    alone = index(documents)
    assert alone.piece_length[:6].tolist() == [50, 50, 50, 50, 40, 40]


def test_same_seed_and_epoch_give_the_same_index():
    documents = lognormal_documents(60, seed=1)
    for pair in PAIRS[1:]:
        assert same(index(documents, pair), index(documents, pair))
        assert not same(index(documents, pair), index(documents, pair, epoch=1))
        assert not same(index(documents, pair), index(documents, pair, seed=1))


def test_no_documents_make_no_rows():
    view = lognormal_documents(5, seed=3)._replace(ranges=np.empty((0, 2), np.int64))
    for pair in PAIRS:
        made = index(view, pair)
        assert made.num_rows == made.num_examples == 0
        check_index(made, view, BERT, 64)


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=4 .*3 special tokens.*Use max_length=5"):
        index(documents_of([[5, 5]]), SentenceOrder(), max_length=4)
