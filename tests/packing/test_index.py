import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.packing.best_fit import BestFit
from ptcli.packing.index import unpaired
from ptcli.packing.segment_pair import SegmentPair
from ptcli.pair.sentence_order import SentenceOrder
from tests.packing.documents import BERT, lognormal_documents


def keys(packing, shard=0):
    documents = lognormal_documents(60, seed=1)._replace(shard=shard)
    made = packing.index(documents, layout=BERT, pair=SentenceOrder(), max_length=64, seed=0, epoch=0)
    return made, made.example_keys(np.arange(made.num_examples))


def test_an_example_has_one_key_however_rows_are_laid_out():
    (single, single_keys), (packed, packed_keys) = keys(SegmentPair(short_sequence_probability=0)), keys(BestFit())
    assert packed.num_rows < single.num_rows
    assert len(set(single_keys.tolist())) == single.num_examples
    assert sorted(single_keys.tolist()) == sorted(packed_keys.tolist())
    chosen = np.array([5, 3])
    assert np.array_equal(packed.example_keys(chosen), packed_keys[chosen])


def test_examples_of_another_shard_have_other_keys():
    assert not set(keys(BestFit())[1].tolist()) & set(keys(BestFit(), shard=1)[1].tolist())


def test_unpaired():
    assert unpaired(3).tolist() == [IGNORE_INDEX] * 3
