import numpy as np

from ptcli.batch.collate import gather, join, lay_out, longest_row
from ptcli.batch.contract import IGNORE_INDEX
from tests.batch.fakes import CLS, MASK, PAD, SEP, EveryThird, Shard, TwoARow, documents, vocabulary


def batch(rows, num_tokens=35):
    index = TwoARow().index(documents(num_tokens), layout=None, pair=None, max_length=16, seed=0, epoch=0)
    gathered = gather(index, Shard(num_tokens), np.array(rows), vocabulary())
    masked = EveryThird()(gathered.examples, seed=0, epoch=0)
    return gathered, lay_out(gathered, masked, pad_token_id=PAD, length=16)


def test_specials_stand_around_each_piece_and_are_not_maskable():
    gathered, _ = batch([0])
    assert gathered.examples.tokens.tolist() == [CLS, 10, 11, 12, 13, 14, SEP, CLS, 15, 16, 17, 18, 19, SEP]
    assert gathered.examples.maskable.tolist() == [False, *[True] * 5, False] * 2


def test_word_starts_follow_the_bits_and_each_piece_begins_a_word():
    gathered, _ = batch([0])
    assert gathered.examples.word_starts[1:6].tolist() == [True, False, True, False, True]
    assert gathered.examples.word_starts[8:13].tolist() == [True, True, False, True, False]  # tokens 5 to 9


def test_rows_are_laid_out_with_restarted_positions_and_numbered_examples():
    _, arrays = batch([3, 0])  # the last row holds one example
    assert arrays["sequence_ids"].tolist() == [[1] * 7 + [0] * 9, [1] * 7 + [2] * 7 + [0, 0]]
    assert arrays["position_ids"][1].tolist() == [*range(7), *range(7), 0, 0]
    assert arrays["attention_mask"].sum(1).tolist() == [7, 14]
    assert (arrays["input_ids"][arrays["attention_mask"] == 0] == PAD).all()


def test_undoing_the_mask_gives_the_text_back():
    _, arrays = batch([0, 1, 2])
    scored = arrays["labels"] != IGNORE_INDEX
    original = np.where(scored, arrays["labels"], arrays["input_ids"])
    body = original[(arrays["attention_mask"] == 1) & ~np.isin(original, [CLS, SEP])]
    assert body.tolist() == list(range(10, 40))
    assert scored.sum() == 10
    assert (arrays["input_ids"] == MASK).sum() == 5


def test_scored_positions_point_at_the_labels():
    _, arrays = batch([0, 1, 2])
    assert (arrays["labels"].ravel()[arrays["label_positions"]] % 3 == 0).all()
    assert arrays["label_positions"].shape[0] == (arrays["labels"] != IGNORE_INDEX).sum()
    assert arrays["pair_labels"].ravel()[arrays["pair_positions"]].tolist() == [1, 1, 1]
    assert (arrays["input_ids"].ravel()[arrays["pair_positions"]] == CLS).all()


def test_joining_parts_is_gathering_at_once():
    one, _ = batch([0, 1, 2])
    both = join([batch([0])[0], batch([1, 2])[0]])
    for name in one.examples.__slots__:
        assert np.array_equal(getattr(one.examples, name), getattr(both.examples, name)), name
    assert np.array_equal(one.row_of_example, both.row_of_example)
    assert both.num_rows == 3 and longest_row(both) == 14


def test_an_unknown_or_added_token_in_the_text_is_not_maskable():
    index = TwoARow().index(documents(5), layout=None, pair=None, max_length=16, seed=0, epoch=0)
    words = vocabulary()
    words.special[12] = True
    gathered = gather(index, Shard(5), np.array([0]), words)
    assert gathered.examples.maskable.tolist() == [False, True, True, False, True, True, False]
