from dataclasses import replace

import numpy as np

from ptcli.batch.collate import gather, join, lay_out, longest_row
from ptcli.batch.contract import IGNORE_INDEX
from ptcli.store.units import Units
from ptcli.tokenizer.vocabulary import Layout
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


def test_pair_labels_stand_where_the_layout_classifies():
    """XLNet: A <sep> <cls>."""
    last = replace(vocabulary(), layout=Layout((), (SEP,), (SEP, CLS), classify_last=True))
    index = TwoARow().index(documents(35), layout=None, pair=None, max_length=16, seed=0, epoch=0)
    parts = [gather(index, Shard(35), np.array(rows), last) for rows in ([0, 1], [2])]
    both = join(parts)
    arrays = lay_out(both, EveryThird()(both.examples, seed=0, epoch=0), pad_token_id=PAD, length=16)
    assert arrays["pair_positions"].tolist() == [6, 16 + 6, 32 + 6]  # five tokens and <sep> before it
    assert (arrays["input_ids"].ravel()[arrays["pair_positions"]] == CLS).all()


def test_joining_parts_is_gathering_at_once():
    one, _ = batch([0, 1, 2])
    both = join([batch([0])[0], batch([1, 2])[0]])
    assert one.examples.columns.keys() == both.examples.columns.keys()
    assert all(np.array_equal(one.examples[name], both.examples[name]) for name in one.examples.columns)
    for name in ("tokens", "offsets", "maskable", "word_starts", "keys"):
        assert np.array_equal(getattr(one.examples, name), getattr(both.examples, name)), name
    assert np.array_equal(one.row_of_example, both.row_of_example)
    assert both.num_rows == 3 and longest_row(both) == 14


def test_an_unknown_or_added_token_in_the_text_is_not_maskable():
    index = TwoARow().index(documents(5), layout=None, pair=None, max_length=16, seed=0, epoch=0)
    words = vocabulary()
    words.special[12] = True
    gathered = gather(index, Shard(5), np.array([0]), words)
    assert gathered.examples.maskable.tolist() == [False, True, True, False, True, True, False]


class Named(Shard):
    """Tokens 1-2, 4-6 (over the edge of two pieces) and 9 are units."""

    units = Units(np.array([1, 4, 9]), np.array([2, 3, 1], np.int32), np.array([0, 1, 0], np.uint8))


def test_named_units_are_found_in_their_pieces_and_cut_at_the_edges():
    index = TwoARow().index(documents(35), layout=None, pair=None, max_length=16, seed=0, epoch=0)
    two, one = (
        gather(index, Named(35), np.array(rows), vocabulary(), documents=documents(35), needs=("units",)).examples
        for rows in ([0], [1])
    )
    #                                  CLS 0  1  2  3  4 SEP CLS 5  6  7  8  9 SEP
    assert two["unit_types"].tolist() == [0, 0, 1, 1, 0, 2, 0, 0, 2, 2, 0, 0, 1, 0]
    assert two["unit_starts"].astype(int).tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0]
    assert not one["unit_types"].any()
    assert not one["unit_starts"].any()
    joined = join(
        [
            gather(index, Named(35), np.array([row]), vocabulary(), documents=documents(35), needs=("units",))
            for row in (1, 0)
        ]
    ).examples
    assert joined["unit_types"].tolist() == [*one["unit_types"], *two["unit_types"]]


def test_a_store_without_named_units_has_none():
    gathered, _ = batch([0, 1])
    assert "unit_starts" not in gathered.examples
    assert "unit_types" not in join([gathered, gathered]).examples
