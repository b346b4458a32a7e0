import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError, DataError
from ptcli.pair.sentence_distance import SentenceDistance
from tests.packing.documents import documents_of, lognormal_documents
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import PACKINGS, read


def gap(pairs):
    """Tokens between the two segments of each pair; below 0 where they overlap."""
    later = pairs.start.argmax(axis=1)
    places = np.arange(len(later))
    return pairs.start[places, later] - pairs.stop[places, 1 - later]


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.sampled_from([0.0, 0.5]), st.integers(0, 9), st.sampled_from(PACKINGS))
def test_the_label_says_how_far_the_second_segment_is(documents, max_length, short, epoch, packing):
    pairs = read(documents, SentenceDistance(), max_length=max_length, short=short, epoch=epoch, packing=packing)
    adjacent, apart, other = (pairs.label == label for label in (0, 1, 2))
    assert np.all(adjacent | apart | other)
    same = pairs.document[:, 0] == pairs.document[:, 1]
    assert np.array_equal(same, ~other)
    assert np.all(pairs.last[adjacent, 0] <= pairs.first[adjacent, 1])
    assert np.all((pairs.stop[:, 0] == pairs.start[:, 1])[adjacent & pairs.whole])
    assert np.all(gap(pairs)[apart] > 0)


@pytest.mark.parametrize("packing", PACKINGS, ids=lambda packing: packing.__name__)
def test_labels_are_a_third_each_and_counted(packing):
    documents = lognormal_documents(12_000, seed=1)
    long = documents.ranges[:, 1] - documents.ranges[:, 0] >= 4
    documents = documents._replace(ranges=documents.ranges[long])
    pairs = read(documents, SentenceDistance(), max_length=64, packing=packing)
    shares = np.bincount(pairs.label, minlength=3) / len(pairs.label)
    assert len(pairs.label) > 40_000
    assert shares == pytest.approx([1 / 3] * 3, abs=0.01)
    counted = [pairs.counts[f"label_{name}"] for name in ("adjacent", "same_document", "other_document")]
    assert counted == np.bincount(pairs.label).tolist()
    assert pairs.counts["repeated_same_document"] > 0


def test_short_documents_have_no_place_apart():
    documents = documents_of([[9] * n for n in (2, 3) for _ in range(8000)])
    for packing in PACKINGS:
        pairs = read(documents, SentenceDistance(), short=0.0, packing=packing)
        shares = np.bincount(pairs.label, minlength=3) / len(pairs.label)
        assert shares == pytest.approx([0.5, 0, 0.5], abs=0.01), packing


def test_every_place_that_does_not_touch_is_drawn_before_and_after():
    documents = documents_of([[20] * 10] * 40)
    places = np.zeros((10, 10))
    for epoch in range(60):
        pairs = read(documents, SentenceDistance(), max_length=64, epoch=epoch, packing=PACKINGS[1])
        apart = pairs.label == 1
        np.add.at(places, tuple((pairs.first[apart] % 10).T), 1)
    near = np.abs(np.subtract.outer(np.arange(10), np.arange(10))) <= 1
    assert np.all(places[near] == 0)
    assert np.all(places[~near] > 0)
    for first in range(10):
        row = places[first][~near[first]]
        assert np.all(np.abs(row / row.mean() - 1) < 5 / np.sqrt(row.mean()))


def test_a_shard_of_one_document_has_no_other():
    pairs = read(documents_of([[9] * 6000]), SentenceDistance(), max_length=32)
    assert np.all(pairs.label < 2)
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([[9] * 20], "pair=sentence_distance takes .*found: 1"),
        ([[9]] * 20, "pair=sentence_distance finds no true next.*20"),
        ([[9] * 3] * 20, "apart: no document has 4"),
        ([[9, 0, 9, 9]] * 20, "apart: no document has 4"),
        ([], "found: 0"),
    ],
)
def test_degenerate_corpora_are_named(lengths, reason):
    with pytest.raises(DataError, match=reason):
        SentenceDistance().check_documents([documents_of(lengths)])


def test_corpora_that_work_pass_and_settings_are_checked():
    SentenceDistance().check_documents([documents_of([[9] * 4, [3]])])
    with pytest.raises(ConfigError, match="split_length=1"):
        SentenceDistance(split_length=1)
