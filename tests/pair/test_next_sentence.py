import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError, DataError
from ptcli.pair.next_sentence import NextSentence
from tests.packing.documents import documents_of, lognormal_documents
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import read


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.sampled_from([0.0, 0.5]), st.integers(0, 9))
def test_the_label_says_whether_the_second_segment_is_the_next(documents, max_length, short, epoch):
    pairs = read(documents, NextSentence(), max_length=max_length, short=short, epoch=epoch)
    assert set(pairs.label.tolist()) <= {0, 1}
    following = pairs.label == 0
    assert np.all(pairs.document[following, 0] == pairs.document[following, 1])
    assert np.all(pairs.last[following, 0] <= pairs.first[following, 1])
    assert np.all(pairs.document[~following, 0] != pairs.document[~following, 1])
    # Where nothing was dropped, the second segment begins right after the first.
    whole = following & pairs.whole
    assert np.all(pairs.stop[whole, 0] == pairs.start[whole, 1])


def test_labels_halve_and_are_counted():
    pairs = read(lognormal_documents(11_000, seed=1), NextSentence(), max_length=64)
    assert len(pairs.label) > 40_000
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.01)
    assert pairs.counts["label_random"] == pairs.label.sum()
    assert pairs.counts["label_next"] == (pairs.label == 0).sum()
    assert pairs.counts["repeated_random"] > 0


def test_labels_halve_among_documents_of_few_sentences():
    documents = documents_of([[9] * n for n in (1, 2, 3) for _ in range(8000)])
    pairs = read(documents, NextSentence(), max_length=64, short=0.0)
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.01)
    # A short lone sentence makes no pair of its own, whatever its coin; it may be the other segment of one.
    assert pairs.counts["skipped_one_sentence"] == 8000
    assert pairs.counts["dropped_one_sentence"] == 72_000
    assert np.all(pairs.document[:, 0] >= 8000)


def test_unused_sentences_are_put_back():
    documents = documents_of([[8] * 30] * 300)
    pairs = read(documents, NextSentence(), max_length=256, short=0.0)
    random = pairs.label == 1
    used = np.zeros(9000, bool)
    for segment in (0, 1):
        for e in np.flatnonzero(~random | (segment == 0)):
            used[pairs.first[e, segment] : pairs.last[e, segment] + 1] = True
    assert used.all()


def test_other_documents_are_drawn_alike_and_places_in_them_too():
    documents = documents_of([[20] * 10] * 40)
    counts, places = np.zeros(40), np.zeros(10)
    for epoch in range(40):
        pairs = read(documents, NextSentence(), max_length=64, epoch=epoch)
        random = pairs.label == 1
        counts += np.bincount(pairs.document[random, 1], minlength=40)
        places += np.bincount(pairs.first[random, 1] % 10, minlength=10)
    assert np.all(np.abs(counts / counts.mean() - 1) < 5 / np.sqrt(counts.mean()))
    assert np.all(np.abs(places / places.mean() - 1) < 5 / np.sqrt(places.mean()))


def test_random_segments_aim_at_the_target_too():
    documents = documents_of([[5] * 200] * 50)
    pairs = read(documents, NextSentence(), max_length=103, short=0.0)
    sentences = (pairs.last - pairs.first + 1).sum(axis=1)
    # 20 sentences are 100 tokens; fewer only where the other document ends.
    assert np.mean(sentences[pairs.label == 1] == 20) > 0.9
    assert sentences.max() == 20


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([[9] * 20], "two .*found: 1.*sentence_order"),  # one document of twenty sentences
        ([[9]] * 20, "no true next sentence.*20 documents.*blank line"),  # twenty of one short sentence
        ([[9]], "two"),  # one line
        ([], "found: 0"),  # nothing
    ],
)
def test_degenerate_corpora_are_named(lengths, reason):
    with pytest.raises(DataError, match=reason):
        NextSentence().check_documents([documents_of(lengths)])


def test_corpora_that_work_pass():
    NextSentence().check_documents([documents_of([[9, 9], [3]])])
    NextSentence().check_documents([documents_of([[3]]), documents_of([[9], [16]])])
    with pytest.raises(DataError):
        NextSentence().check_documents([documents_of([[9, 9]]), documents_of([[9, 9]])])  # alone in each shard
    with pytest.raises(DataError):
        NextSentence().check_documents([documents_of([[0, 9], [3, 0]])])  # sentences without tokens are none


def test_a_shard_of_one_document_has_true_pairs_only():
    pairs = read(documents_of([[9] * 20]), NextSentence())
    assert len(pairs.label)
    assert np.all(pairs.label == 0)


def test_long_lone_sentences_are_cut_in_two():
    documents = documents_of([[20]] * 2000)
    pairs = read(documents, NextSentence(), max_length=64, short=0.0)
    assert pairs.counts["skipped_one_sentence"] == 0
    assert pairs.counts["cut_sentences"] == 2000
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.05)
    assert np.all((pairs.document[:, 0] == pairs.document[:, 1]) == (pairs.label == 0))


def test_split_length_is_checked():
    with pytest.raises(ConfigError, match="split_length=1"):
        NextSentence(split_length=1)
