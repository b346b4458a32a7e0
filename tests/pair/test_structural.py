import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcli.errors import ConfigError, DataError
from ptcli.pair.structural import Structural
from tests.packing.documents import documents_of, lognormal_documents
from tests.packing.strategies import no_deadline, ragged_documents
from tests.pair.numbered import PACKINGS, read


@no_deadline
@given(ragged_documents, st.integers(5, 60), st.sampled_from([0.0, 0.5]), st.integers(0, 9), st.sampled_from(PACKINGS))
def test_the_label_says_where_the_second_segment_is_from(documents, max_length, short, epoch, packing):
    pairs = read(documents, Structural(), max_length=max_length, short=short, epoch=epoch, packing=packing)
    following, previous, random = (pairs.label == label for label in (0, 1, 2))
    assert np.all(following | previous | random)
    same = pairs.document[:, 0] == pairs.document[:, 1]
    assert np.array_equal(same, ~random)
    assert np.all(pairs.last[following, 0] <= pairs.first[following, 1])
    assert np.all(pairs.last[previous, 1] <= pairs.first[previous, 0])
    # Where nothing was dropped, one segment begins right where the other ends.
    assert np.all((pairs.stop[:, 0] == pairs.start[:, 1])[following & pairs.whole])
    assert np.all((pairs.stop[:, 1] == pairs.start[:, 0])[previous & pairs.whole])


@pytest.mark.parametrize("packing", PACKINGS, ids=lambda packing: packing.__name__)
def test_labels_are_a_third_each_and_counted(packing):
    pairs = read(lognormal_documents(12_000, seed=1), Structural(), max_length=64, packing=packing)
    shares = np.bincount(pairs.label, minlength=3) / len(pairs.label)
    assert len(pairs.label) > 40_000
    assert shares == pytest.approx([1 / 3] * 3, abs=0.01)
    counted = [pairs.counts[f"label_{name}"] for name in ("next", "previous", "random")]
    assert counted == np.bincount(pairs.label).tolist()


def test_labels_are_a_third_each_among_documents_of_few_sentences():
    documents = documents_of([[9] * n for n in (2, 3) for _ in range(12_000)])
    for packing in PACKINGS:
        pairs = read(documents, Structural(), short=0.0, packing=packing)
        shares = np.bincount(pairs.label, minlength=3) / len(pairs.label)
        assert shares == pytest.approx([1 / 3] * 3, abs=0.015), packing


def test_a_shard_of_one_document_has_neighbours_only_half_of_them_swapped():
    pairs = read(documents_of([[9] * 6000]), Structural(), max_length=32)
    assert np.all(pairs.label < 2)
    assert pairs.label.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([[9] * 20], "pair=structural takes .*found: 1"),
        ([[9]] * 20, "pair=structural finds no true next.*20"),
        ([], "found: 0"),
    ],
)
def test_degenerate_corpora_are_named(lengths, reason):
    with pytest.raises(DataError, match=reason):
        Structural().check_documents([documents_of(lengths)])


def test_corpora_that_work_pass_and_settings_are_checked():
    Structural().check_documents([documents_of([[9, 9], [3]])])
    with pytest.raises(ConfigError, match="split_length=1"):
        Structural(split_length=1)
