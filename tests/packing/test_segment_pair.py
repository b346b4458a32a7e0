import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.packing.segment_pair import SegmentPair
from ptcli.pair.chunks import Pairs
from ptcli.pair.next_sentence import NextSentence
from ptcli.pair.none import NoPair
from ptcli.pair.sentence_order import SentenceOrder
from ptcli.store.documents import Documents
from tests.packing.documents import (
    BERT,
    ROBERTA,
    check_index,
    document_of_token,
    documents_of,
    examples,
    lognormal_documents,
    same,
)
from tests.packing.strategies import no_deadline, ragged_documents

PAIRS = [NoPair(), SentenceOrder(), NextSentence()]


def index(documents, pair=None, *, max_length=32, seed=0, epoch=0, layout=BERT, short=0.1):
    packing = SegmentPair(short_sequence_probability=short)
    pair = pair or NoPair()
    return packing.index(documents, layout=layout, pair=pair, max_length=max_length, seed=seed, epoch=epoch)


@no_deadline
@given(
    ragged_documents, st.sampled_from(PAIRS), st.integers(6, 40), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 9)
)
def test_every_token_is_used_or_counted(documents, pair, max_length, short, epoch):
    made = index(documents, pair, max_length=max_length, short=short, epoch=epoch, layout=ROBERTA)
    check_index(made, documents, ROBERTA, max_length)
    assert np.all(np.diff(made.row_examples) == 1)
    assert np.all(np.diff(made.example_pieces) == pair.segments)
    assert np.array_equal(made.piece_segment, np.tile(np.arange(pair.segments), made.num_examples))


@no_deadline
@given(ragged_documents, st.integers(3, 40))
def test_single_segments_are_whole_sentences_where_one_fits(documents, max_length):
    room = max_length - 2
    made = index(documents, max_length=max_length, short=0.0)
    assert sum(n for name, n in made.counts.items() if name.startswith("dropped_")) == 0
    assert np.all(made.pair_labels == IGNORE_INDEX)
    ends = set(documents.sentence_offsets.tolist())
    owner = document_of_token(documents)
    for start, length, _ in (example[0] for example in examples(made)):
        stop = start + length
        if stop in ends:
            # The next sentence of the document, if any, would not have fitted.
            following = min((e for e in ends if e > stop), default=stop)
            if following > stop and owner[stop] == owner[start] and start in ends:
                assert following - start > room
        else:
            # Only a sentence that fits nowhere is broken, and then the row is full.
            assert length == room
            assert not any(start < e <= stop for e in ends)


def test_the_short_length_is_drawn_once_a_document_and_uniformly():
    documents = documents_of([[1] * 400] * 2000)
    made = index(documents, max_length=66, short=0.25)
    owner = document_of_token(documents)[made.piece_start]
    longest = np.zeros(2000, np.int64)
    np.maximum.at(longest, owner, made.piece_length)
    short = longest < 64
    assert short.mean() == pytest.approx(0.25 * 62 / 63, abs=0.03)
    assert longest.min() == 2
    assert longest[short].mean() == pytest.approx(32.5, abs=3)
    # All pieces of a document but its last have its length.
    assert np.all((made.piece_length == longest[owner]) | (np.append(owner[1:], -1) != owner))


def test_pairs_fill_the_row_but_for_short_ones_and_document_ends():
    documents = documents_of([[7] * 4000])
    made = index(documents, SentenceOrder(), max_length=64, short=0.0)
    lengths = made.piece_length.reshape(-1, 2).sum(axis=1)
    assert np.all(lengths[:-1] == 61)
    # 9 sentences of 7 are 63: two tokens of each chunk are dropped, from the front and the back of both segments.
    assert made.counts["dropped_truncated"] == pytest.approx(2 * made.num_examples, abs=4)


def test_truncation_takes_from_the_longer_segment_and_from_both_ends():
    documents = documents_of([[60, 30]] * 1000)
    made = index(documents, SentenceOrder(), max_length=43, short=0.0)  # room for 40: sentences of 60 become 3 x 20
    check_index(made, documents, BERT, 43)
    lengths = made.piece_length.reshape(-1, 2)
    assert np.all(lengths.sum(axis=1) <= 40)
    documents = documents_of([[30, 30]] * 1000)
    made = index(documents, SentenceOrder(), max_length=43, short=0.0)
    assert np.all(made.piece_length == 20)
    front = made.piece_start - np.repeat(np.arange(1000) * 60, 2)
    front = np.where(front >= 30, front - 30, front)  # tokens dropped at the front, of 10
    assert front.mean() == pytest.approx(5, abs=0.2)
    assert front.var() == pytest.approx(2.5, abs=0.4)
    documents = documents_of([[35, 6]] * 50)
    made = index(documents, SentenceOrder(), max_length=43, short=0.0)
    assert np.all(np.sort(made.piece_length.reshape(-1, 2)) == [6, 34])


def test_no_sentence_is_left_alone_where_a_pair_needs_two():
    # 3 sentences a chunk would leave one of ten alone; short targets would leave one of any odd number.
    documents = documents_of([[10] * n for n in range(2, 40)])
    for short in (0.0, 1.0):
        for pair in (SentenceOrder(), NextSentence()):
            made = index(documents, pair, max_length=33, short=short)
            assert made.counts["skipped_one_sentence"] == 0
            assert made.counts["dropped_one_sentence"] == 0


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_same_seed_and_epoch_give_the_same_index(pair):
    documents = lognormal_documents(60, seed=1)
    first = index(documents, pair)
    assert same(first, index(documents, pair))
    assert not same(first, index(documents, pair, epoch=1))
    assert not same(first, index(documents, pair, seed=1))
    # Another shard draws otherwise.
    other = index(documents._replace(shard=1), pair)
    assert not same(first, other)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_a_view_makes_examples_of_its_documents_only(pair):
    whole = lognormal_documents(40, seed=2)
    ranges = whole.ranges[30:].copy()
    ranges[0, 0] += (ranges[0, 1] - ranges[0, 0]) // 2  # the held-out tail of a document
    view = whole._replace(ranges=ranges)
    made = index(view, pair)
    check_index(made, view, BERT, 32)
    assert made.piece_start.min() >= whole.sentence_offsets[ranges[0, 0]]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_no_documents_make_no_rows(pair):
    view = lognormal_documents(5, seed=3)._replace(ranges=np.empty((0, 2), np.int64))
    for documents in (view, Documents(4, np.zeros(1, np.int64), np.empty((0, 2), np.int64))):
        made = index(documents, pair)
        assert made.num_rows == made.num_examples == 0
        check_index(made, documents, BERT, 32)


def test_unhappy_settings_are_refused():
    documents = documents_of([[5, 5]])
    with pytest.raises(ConfigError, match=r"max_length=2 .*2 special tokens.*Use max_length=3"):
        index(documents, max_length=2)
    with pytest.raises(ConfigError, match=r"max_length=5 .*4 special tokens.*Use max_length=6"):
        index(documents, SentenceOrder(), max_length=5, layout=ROBERTA)
    index(documents, SentenceOrder(), max_length=6, layout=ROBERTA)
    with pytest.raises(ConfigError, match=r"short_sequence_probability=1\.5"):
        SegmentPair(short_sequence_probability=1.5)


class LoneSentences(NextSentence):
    """A pair that wants chunks as BERT's code makes them, one-sentence chunks included."""

    def __init__(self):
        self.split_length = None

    def make(self, chunks, documents, *, key) -> Pairs:
        self.chunks = chunks
        return super().make(chunks, documents, key=key)

    def second_elsewhere(self, documents, *, key):
        return np.ones(len(documents.sentence_offsets) - 1, bool)


def test_a_pair_may_take_chunks_of_one_sentence():
    pair = LoneSentences()
    documents = documents_of([[3], [4], [5, 6]])
    made = index(documents, pair, short=0.0)
    check_index(made, documents, BERT, 32)
    assert pair.chunks.first.tolist() == [0, 1, 2, 3]
    assert pair.chunks.split.tolist() == [1, 2, 3, 4]
    assert pair.chunks.end.tolist() == [1, 2, 4, 4]
