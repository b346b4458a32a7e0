import numpy as np

from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.mask.whole_word import WholeWordMask
from tests.mask.synthetic import IGNORE, examples, one_body, vocabulary, words_of


def test_a_unit_is_a_word_and_begins_anew_after_a_special():
    batch = examples([30, 1, 0, 50], pairs=True)
    units = WholeWordMask(vocabulary=vocabulary())(batch, seed=0, epoch=0).units
    words = words_of(batch)
    firsts = np.unique(words[words >= 0], return_index=True)[1]
    assert np.array_equal(np.flatnonzero(units), np.flatnonzero(batch.maskable)[firsts])


def test_all_pieces_of_a_word_are_of_one_kind_unless_drawn_for_each():
    batch = examples([100] * 300)
    words = words_of(batch)

    def mixed(level):
        mask = WholeWordMask(vocabulary=vocabulary(), ratio=0.5, replace_level=level)
        kinds = mask(batch, seed=0, epoch=0).kinds.astype(int)
        low, high = np.full(words.max() + 1, 9), np.zeros(words.max() + 1, int)
        np.minimum.at(low, words[words >= 0], kinds[words >= 0])
        np.maximum.at(high, words[words >= 0], kinds[words >= 0])
        return np.mean(low != high)

    assert mixed("unit") == 0
    assert mixed("token") > 0.02


def test_pieces_of_a_random_word_are_drawn_each_for_itself():
    batch = examples([100] * 300)
    masked = WholeWordMask(vocabulary=vocabulary(), replace=[0, 1, 0])(batch, seed=0, epoch=0)
    both = (masked.kinds[1:] == RANDOM) & (masked.kinds[:-1] == RANDOM)
    assert np.mean(masked.input_ids[1:][both] == masked.input_ids[:-1][both]) < 0.02


def test_long_words_are_selected_as_often_as_short_ones():
    batch = one_body([1, 1, 5, 1, 2, 1, 1, 3, 1, 1, 1, 2], copies=40_000)
    masked = WholeWordMask(vocabulary=vocabulary(), ratio=0.3)(batch, seed=0, epoch=0)
    shares = (masked.labels != IGNORE).reshape(40_000, -1).mean(0)[1:-1]
    assert np.abs(shares - 0.3).max() < 0.01


def test_replacement_shares_hold_over_words():
    batch = examples([100] * 2000)
    masked = WholeWordMask(vocabulary=vocabulary())(batch, seed=0, epoch=0)
    chosen = masked.kinds[masked.units & (masked.labels != IGNORE)]
    for kind, share in ((MASKED, 0.8), (RANDOM, 0.1), (KEPT, 0.1)):
        assert abs(np.mean(chosen == kind) - share) < 0.01
