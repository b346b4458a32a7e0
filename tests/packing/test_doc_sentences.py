import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.doc_sentences import DocSentences
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import (
    BERT,
    check_index,
    document_of_token,
    documents_of,
    examples,
    lognormal_documents,
    same,
)
from tests.packing.strategies import no_deadline, ragged_documents


def index(documents, *, max_length=32, seed=0, epoch=0):
    return DocSentences().index(documents, layout=BERT, pair=NoPair(), max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(ragged_documents, st.integers(3, 40))
def test_every_token_once_whole_sentences_never_two_documents(documents, max_length):
    made = index(documents, max_length=max_length)
    check_index(made, documents, BERT, max_length)
    assert not any(name.startswith("dropped_") for name in made.counts)
    assert np.array_equal(np.append(made.piece_start, documents.num_tokens)[1:], made.piece_start + made.piece_length)
    assert np.all(np.diff(made.row_examples) == 1)
    assert np.all(np.diff(made.example_pieces) == 1)
    assert np.all(made.pair_labels == IGNORE_INDEX)
    # A row ends between sentences, unless one is longer than a row; and where the next would not fit.
    room, ends, owner = max_length - 2, np.unique(documents.sentence_offsets), document_of_token(documents)
    for start, length, _ in (example[0] for example in examples(made)):
        stop = start + length
        if stop not in ends:
            assert length == room
        elif stop < documents.num_tokens and owner[stop] == owner[start] and start in ends:
            following = ends[np.searchsorted(ends, stop, side="right")] - stop
            assert length + following > room


def test_rows_read_as_they_should():
    made = index(documents_of([[10, 9, 12, 4], [3], [70]]))
    assert made.piece_length.tolist() == [19, 16, 3, 30, 30, 10]
    assert made.counts == {"tokens": 120, "examples": 6, "rows": 6}


def test_every_epoch_is_the_same():
    documents = lognormal_documents(60, seed=1)
    assert same(index(documents), index(documents, epoch=1, seed=2))


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=2 .*Use max_length=3"):
        index(documents_of([[5]]), max_length=2)
    with pytest.raises(AssertionError):
        DocSentences().index(documents_of([[5]]), layout=BERT, pair=SentenceOrder(), max_length=32, seed=0, epoch=0)
