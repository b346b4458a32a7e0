import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.lines import Lines
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import BERT, check_index, documents_of, lognormal_documents, same
from tests.packing.strategies import no_deadline, ragged_documents


def index(documents, *, max_length=32, seed=0, epoch=0):
    return Lines().index(documents, layout=BERT, pair=NoPair(), max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(ragged_documents, st.integers(3, 200))
def test_a_document_is_a_row_and_what_is_too_long_is_counted(documents, max_length):
    made = index(documents, max_length=max_length)
    check_index(made, documents, BERT, max_length)
    bounds = documents.sentence_offsets[documents.ranges]
    assert np.array_equal(made.piece_start, bounds[:, 0])
    assert np.array_equal(made.piece_length, np.minimum(np.diff(bounds)[:, 0], max_length - 2))
    assert np.all(np.diff(made.row_examples) == 1)
    assert np.all(np.diff(made.example_pieces) == 1)
    assert np.all(made.pair_labels == IGNORE_INDEX)


def test_three_short_lines_are_three_rows_and_a_long_one_loses_its_end():
    made = index(documents_of([[5], [3, 4], [29], [30], [50, 7]]))
    assert made.piece_length.tolist() == [5, 7, 29, 30, 30]
    assert made.counts == {
        "tokens": 111,
        "examples": 5,
        "rows": 5,
        "dropped_truncated": 27,
        "cut_documents": 1,
    }


def test_documents_without_tokens_vanish():
    assert index(documents_of([[5], [0, 0], [3]])).piece_length.tolist() == [5, 3]


def test_every_epoch_is_the_same():
    documents = lognormal_documents(60, seed=1)
    assert same(index(documents), index(documents, epoch=1, seed=2))


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=2 .*Use max_length=3"):
        index(documents_of([[5]]), max_length=2)
    with pytest.raises(AssertionError):
        Lines().index(documents_of([[5]]), layout=BERT, pair=SentenceOrder(), max_length=32, seed=0, epoch=0)
