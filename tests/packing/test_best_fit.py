import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError
from ptcli.packing.best_fit import BestFit, best_fit
from ptcli.packing.segment_pair import SegmentPair
from ptcli.pair.next_sentence import NextSentence
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import BERT, check_index, documents_of, examples, lognormal_documents, same
from tests.packing.strategies import no_deadline, ragged_documents

PAIRS = [NoPair(), SentenceOrder(), NextSentence()]
KEY = np.uint64(7)


def index(documents, pair=None, *, max_length=32, seed=0, epoch=0, short=0.0, window=0.1, cut=True):
    packing = BestFit(short_sequence_probability=short, sentence_window=window, cut_to_fill=cut)
    pair = pair or NoPair()
    return packing.index(documents, layout=BERT, pair=pair, max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(
    ragged_documents,
    st.sampled_from(PAIRS),
    st.integers(5, 40),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.integers(0, 9),
)
def test_every_token_is_used_or_counted(documents, pair, max_length, short, window, epoch):
    made = index(documents, pair, max_length=max_length, short=short, window=window, epoch=epoch)
    check_index(made, documents, BERT, max_length)
    if pair.segments == 1:
        assert not any(name.startswith("dropped_") for name in made.counts)


@no_deadline
@given(ragged_documents, st.sampled_from(PAIRS[1:]), st.integers(0, 3))
def test_pairs_are_those_of_segment_pair(documents, pair, epoch):
    packed = index(documents, pair, epoch=epoch, short=0.1)
    single = SegmentPair(short_sequence_probability=0.1).index(
        documents, layout=BERT, pair=pair, max_length=32, seed=0, epoch=epoch
    )
    labelled = [sorted(zip(examples(i), i.pair_labels.tolist(), strict=True)) for i in (packed, single)]
    assert labelled[0] == labelled[1]
    assert packed.num_rows <= single.num_rows


def textbook_best_fit(lengths, capacity):
    rows = []  # space left
    for length in sorted(lengths, reverse=True):
        fitting = [r for r, left in enumerate(rows) if left >= length]
        if fitting:
            rows[min(fitting, key=lambda r: rows[r])] -= length
        else:
            rows.append(capacity - length)
    return sorted(rows)


@no_deadline
@given(st.integers(1, 30).flatmap(lambda c: st.tuples(st.just(c), st.lists(st.integers(1, c), max_size=60))))
def test_rows_are_those_of_the_textbook(case):
    capacity, lengths = case
    array = np.array(lengths, np.int64)
    order, bounds = best_fit(array, capacity=capacity, key=KEY)
    assert sorted(order.tolist()) == list(range(len(lengths)))
    left = [capacity - int(array[order[a:b]].sum()) for a, b in itertools.pairwise(bounds)]
    assert sorted(left) == textbook_best_fit(lengths, capacity)


@pytest.mark.parametrize("max_length", [64, 128, 512])
@pytest.mark.parametrize("sentences", [3, 12, 100])
def test_next_to_nothing_is_padding(max_length, sentences):
    documents = lognormal_documents(12_000 // sentences, seed=1, sentences=sentences)
    made = index(documents, max_length=max_length)
    assert made.counts["tokens"] / (made.num_rows * max_length) > 0.96
    full = index(documents, max_length=max_length, window=0.0)
    assert full.counts["tokens"] / (full.num_rows * max_length) > 0.98


@pytest.mark.parametrize("pair", PAIRS[1:], ids=lambda pair: type(pair).__name__)
def test_next_to_nothing_is_padding_with_pairs(pair):
    made = index(lognormal_documents(1000, seed=1), pair, max_length=128)
    assert made.counts["tokens"] / (made.num_rows * 128) > 0.96


def test_documents_are_cut_at_a_sentence_end_within_the_window():
    documents = lognormal_documents(50, seed=4, sentences=100)
    ends = documents.sentence_offsets

    def broken(window):
        made = index(documents, max_length=128, window=window)
        return np.mean(~np.isin(made.piece_start + made.piece_length, ends))

    assert broken(0.0) > 0.8
    assert 0.3 < broken(0.1) < 0.8
    assert broken(1.0) < 0.02


def test_documents_that_fit_stay_whole_and_others_have_no_more_pieces_than_they_need():
    documents = documents_of([[10, 9, 7, 4]] * 20 + [[13] * 10] * 20)
    made = index(documents, max_length=32, window=0.0, cut=False)
    pieces = {start: length for example in examples(made) for start, length, _ in example}
    assert all(pieces[30 * d] == 30 for d in range(20))
    # 130 tokens are four pieces of 30 and one of 10, wherever that comes.
    assert sorted(pieces.values()) == [10] * 20 + [30] * 100
    starts = np.array(sorted(s for s, length in pieces.items() if length == 10))
    assert set(((starts - 600) % 130).tolist()) == {0, 30, 60, 90, 120}


def test_epochs_draw_other_cuts_and_other_neighbours():
    for pair in PAIRS:
        documents = lognormal_documents(60, seed=1)
        assert same(index(documents, pair), index(documents, pair))
        assert not same(index(documents, pair), index(documents, pair, epoch=1))
        assert not same(index(documents, pair), index(documents, pair, seed=1))
    # Documents of 10 and of 20 tokens: each time another 10 stands beside a 20.
    documents = documents_of([[10], [16]] * 200)

    def neighbours(epoch):
        made = index(documents, max_length=30, epoch=epoch)
        assert made.num_rows == 200
        return {
            frozenset(made.piece_start[a:b].tolist())
            for a, b in zip(made.row_examples[:-1], made.row_examples[1:], strict=True)
        }

    assert len(neighbours(0) & neighbours(1)) < 20


def test_no_documents_make_no_rows():
    view = lognormal_documents(5, seed=3)._replace(ranges=np.empty((0, 2), np.int64))
    for pair in PAIRS:
        made = index(view, pair)
        assert made.num_rows == made.num_examples == 0
        check_index(made, view, BERT, 32)


def test_unhappy_settings_are_refused():
    with pytest.raises(ConfigError, match=r"max_length=2 .*Use max_length=3"):
        index(documents_of([[5]]), max_length=2)
    with pytest.raises(ConfigError, match="sentence_window=-1"):
        BestFit(sentence_window=-1)
    with pytest.raises(ConfigError, match="short_sequence_probability=2"):
        BestFit(short_sequence_probability=2)
