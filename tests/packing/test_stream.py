import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.stream import Stream
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import (
    BERT,
    ROBERTA,
    check_index,
    document_of_token,
    documents_of,
    examples,
    lognormal_documents,
    row_lengths,
    same,
)
from tests.packing.strategies import no_deadline, ragged_documents


def index(documents, *, max_length=32, seed=0, epoch=0, layout=ROBERTA):
    return Stream().index(documents, layout=layout, pair=NoPair(), max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(ragged_documents, st.integers(3, 60), st.sampled_from([BERT, ROBERTA]), st.integers(0, 9))
def test_every_token_once_in_order_in_full_rows(documents, max_length, layout, epoch):
    made = index(documents, max_length=max_length, layout=layout, epoch=epoch)
    check_index(made, documents, layout, max_length)
    assert not any(name.startswith("dropped_") for name in made.counts)
    assert np.array_equal(np.append(made.piece_start, documents.num_tokens)[1:], made.piece_start + made.piece_length)
    assert np.all(np.diff(made.row_examples) == 1)
    assert np.all(made.pair_labels == IGNORE_INDEX)
    owner = document_of_token(documents)
    rows = row_lengths(made, layout)
    for row, example in list(enumerate(examples(made)))[1:-1]:
        # Full, but where a document ends so near the end that separators would be all that follows.
        stop = example[-1][0] + example[-1][1]
        if rows[row] < max_length:
            assert owner[stop] != owner[stop - 1]
            assert rows[row] + len(layout.between) >= max_length
    for example in examples(made):
        documents_in_row = [owner[start] for start, _, _ in example]
        assert all(a < b for a, b in itertools.pairwise(documents_in_row))


def test_rows_read_as_they_should():
    documents = documents_of([[4, 4], [3], [9, 2, 30], [18], [5]])
    # An epoch in which the drawn first row is full.
    made = next(m for m in (index(documents, max_length=22, epoch=e) for e in range(200)) if m.piece_length[2] == 5)
    lengths = [[length for _, length, _ in example] for example in examples(made)]
    # Room for 20: 8 + (2) + 3 + (2) + 5; 41 - 5 = 36 = 20 + 16, then (2) + 2 of the 18; 16 + (2) + 2; 3.
    assert lengths == [[8, 3, 5], [20], [16, 2], [16, 2], [3]]
    assert made.counts == {"tokens": 75 + 10 + 8, "examples": 5, "rows": 5}


def test_rows_are_full():
    made = index(lognormal_documents(400, seed=1), max_length=512)
    assert made.counts["tokens"] / (made.num_rows * 512) > 0.99


def test_epochs_cut_elsewhere():
    documents = lognormal_documents(60, seed=1)
    assert same(index(documents), index(documents))
    firsts = {int(index(documents, epoch=e, max_length=128).piece_length[0]) for e in range(20)}
    assert len(firsts) > 10
    one = documents_of([[30] * 400])
    cuts = [set(index(one, epoch=e, max_length=128).piece_start[1:].tolist()) for e in range(2)]
    assert not cuts[0] & cuts[1]


def test_no_documents_make_no_rows():
    view = lognormal_documents(5, seed=3)._replace(ranges=np.empty((0, 2), np.int64))
    made = index(view)
    assert made.num_rows == made.num_examples == 0
    check_index(made, view, ROBERTA, 32)


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=2 .*Use max_length=3"):
        index(documents_of([[5]]), max_length=2)
    with pytest.raises(AssertionError):
        Stream().index(documents_of([[5]]), layout=BERT, pair=SentenceOrder(), max_length=32, seed=0, epoch=0)
