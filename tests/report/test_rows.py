import numpy as np

from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.report.rows import joins, printable, unit_goes_on
from tests.report.drawn import MASK, examples_of, masked_at, rows_of


def test_rows_hold_what_was_read_and_what_is_shown():
    examples, names = examples_of("[CLS] un-believ-able cats sleep [SEP]", "[CLS] dogs bark [SEP]")
    kinds = {1: MASKED, 2: RANDOM, 3: KEPT}
    masked = masked_at(examples, kinds, shown={1: 0, 2: 5}, units=[1, 4])
    (row,) = rows_of(examples, names, {"mine": masked}, rows=[0, 0], pair_labels=np.array([1, -100]))
    first, second = row.examples
    assert (row.number, row.num_tokens) == (1, 11)
    assert first.texts == ["[CLS]", "un", "believ", "able", "cats", "sleep", "[SEP]"]
    mask = first.masks["mine"]
    assert mask.shown == ["[CLS]", MASK, "cats", "able", "cats", "sleep", "[SEP]"]
    assert mask.kinds == ["", "masked", "random", "kept", "", "", ""]
    assert mask.input_ids == masked.input_ids[:7].tolist()
    assert (first.labels, second.labels) == ({"pair": "swapped"}, {})
    assert first.special == [True, False, False, False, False, False, True]


def test_words_and_units_go_on_where_no_new_one_begins():
    examples, names = examples_of("[CLS] un-believ-able cats sleep [SEP]")
    masked = masked_at(examples, dict.fromkeys((1, 2, 3, 4, 5), MASKED), shown={}, units=[1, 5])
    (row,) = rows_of(examples, names, {"mine": masked}, segments=np.array([0, 0, 0, 1, 1, 1, 1], np.uint8))
    (example,) = row.examples
    assert [joins(example, place) for place in range(7)] == [False, False, True, False, False, False, False]
    goes_on = [unit_goes_on(example.masks["mine"], place) for place in range(7)]
    assert goes_on == [False, False, True, True, True, False, False]


def test_nothing_that_moves_a_cursor_is_drawn():
    assert printable("a\x1b[31m\n\u202eb") == "a\ufffd[31m\ufffd\ufffdb"
    assert printable("自然 é") == "自然 é"
