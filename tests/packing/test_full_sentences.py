import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.full_sentences import FullSentences
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
    return FullSentences().index(documents, layout=layout, pair=NoPair(), max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(ragged_documents, st.integers(3, 40), st.sampled_from([BERT, ROBERTA]), st.integers(0, 5))
def test_every_token_once_in_order_whole_sentences_full_rows(documents, max_length, layout, epoch):
    made = index(documents, max_length=max_length, layout=layout, epoch=epoch)
    check_index(made, documents, layout, max_length)
    assert not any(name.startswith("dropped_") for name in made.counts)
    # In the order of the text, nothing left out.
    assert np.array_equal(np.append(made.piece_start, documents.num_tokens)[1:], made.piece_start + made.piece_length)
    assert np.all(made.piece_segment == 0)
    assert np.all(made.pair_labels == IGNORE_INDEX)
    assert np.all(np.diff(made.row_examples) == 1)

    # One piece of a document in a row, so that separators stand between documents and nowhere else.
    owner = document_of_token(documents)
    for example in examples(made):
        documents_in_row = [owner[start] for start, _, _ in example]
        assert all(a < b for a, b in itertools.pairwise(documents_in_row))

    # A row ends between sentences, unless a sentence is longer than a row; and where the next would not fit.
    room = max_length - layout.num_special(1)
    offsets = np.unique(documents.sentence_offsets)
    rows = row_lengths(made, layout)
    for row, example in list(enumerate(examples(made)))[1:-1]:
        stop = example[-1][0] + example[-1][1]
        following = np.searchsorted(offsets, stop, side="right")
        sentence = offsets[following] - offsets[following - 1]
        if stop in offsets and sentence <= room:
            separator = len(layout.between) if owner[stop] != owner[stop - 1] else 0
            assert rows[row] + separator + sentence > max_length
        elif stop not in offsets:
            assert sentence > room


def test_rows_read_as_they_should():
    documents = documents_of([[4, 4], [3], [9, 2, 30]])
    # The first row's length is drawn: an epoch in which it is full.
    made = next(m for m in (index(documents, max_length=22, epoch=e) for e in range(100)) if m.piece_start[2] == 11)
    lengths = [[(length, segment) for _, length, segment in example] for example in examples(made)]
    # 2 + 8 + 2 + 3 = 15, and 2 + 9 do not fit; 2 + 11; the sentence of 30 is cut in two.
    assert lengths == [[(8, 0), (3, 0)], [(11, 0)], [(15, 0)], [(15, 0)]]
    assert row_lengths(made, ROBERTA).tolist() == [15, 13, 17, 17]
    assert made.counts == {"cut_sentences": 1, "tokens": 62, "examples": 4, "rows": 4}


def test_rows_are_nearly_full():
    made = index(lognormal_documents(400, seed=1), max_length=512)
    assert made.counts["tokens"] / (made.num_rows * 512) > 0.95


def test_epochs():
    documents = lognormal_documents(60, seed=1)
    assert same(index(documents), index(documents))
    assert len({index(documents, epoch=e, max_length=128).piece_length[:3].tobytes() for e in range(8)}) > 1


def test_no_documents_make_no_rows():
    view = lognormal_documents(5, seed=3)._replace(ranges=np.empty((0, 2), np.int64))
    made = index(view)
    assert made.num_rows == made.num_examples == 0
    check_index(made, view, ROBERTA, 32)


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=2 .*Use max_length=3"):
        index(documents_of([[5]]), max_length=2)
    with pytest.raises(AssertionError):
        FullSentences().index(documents_of([[5]]), layout=BERT, pair=SentenceOrder(), max_length=32, seed=0, epoch=0)
