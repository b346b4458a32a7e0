import numpy as np

from ptcli.batch.collate import Gathered
from ptcli.evaluation.scored import groups, joined, scored_positions
from ptcli.mask.examples import KEPT, MASKED, RANDOM
from tests.report.drawn import examples_of, masked_at


def scored():
    examples, _ = examples_of("[CLS] un-believ-able cats sleep [SEP]", "[CLS] dogs bark [SEP]")
    kinds = {2: MASKED, 3: MASKED, 4: MASKED, 5: RANDOM, 8: KEPT}
    masked = masked_at(examples, kinds, shown={}, units=[1, 5, 8, 9])
    examples = examples.with_columns(documents=np.array([4] * 7 + [6] * 4))
    return scored_positions(Gathered(examples, np.arange(2), 2, {}), masked)


def test_what_is_known_of_each_scored_position():
    found = scored()
    assert found.kinds.tolist() == [MASKED, MASKED, MASKED, RANDOM, KEPT]
    assert found.first_pieces.tolist() == [False, False, True, True, True]
    assert found.unit_lengths.tolist() == [3, 3, 3, 1, 1]  # of a span of two words, its first piece was cut off
    assert found.documents.tolist() == [4, 4, 4, 4, 6]


def test_each_way_of_grouping_covers_every_position_once():
    both = joined([scored(), scored()])
    members = groups(both)
    assert both.kinds.size == 10
    for names in (
        ("masked", "random", "kept", "permuted"),
        ("first_piece", "later_piece"),
        ("unit_of_1", "unit_of_2", "unit_of_3_to_4", "unit_of_5_or_more"),
    ):
        assert np.array_equal(sum(members[name].astype(int) for name in names), np.ones(10))
    assert members["unit_of_3_to_4"].sum() == 6
