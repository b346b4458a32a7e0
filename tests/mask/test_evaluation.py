import numpy as np

from ptcli.mask.evaluation import EvaluationMask
from ptcli.mask.examples import MASKED, NOT_SELECTED, Examples
from tests.mask.synthetic import vocabulary


def examples(starts: list[int], maskable: list[int] | None = None, copies: int = 400) -> Examples:
    """`copies` of one example, with keys of their own."""
    n = len(starts)
    tokens = np.tile(np.arange(20, 20 + n), copies).astype(np.int32)
    can = np.tile(np.array(maskable or [1] * n, bool), copies)
    return Examples(
        tokens,
        np.arange(copies + 1) * n,
        can,
        np.tile(np.array(starts, bool), copies),
        np.arange(copies, dtype=np.uint64),
    )


def mask(**settings) -> EvaluationMask:
    return EvaluationMask(replace=(1, 0, 0), copies=1, vocabulary=vocabulary(), **settings)


def test_only_tokens_that_are_whole_words_are_selected_and_all_of_them_can_be():
    #               word, word of 2, word, word of 3, last word
    starts = [1, 1, 0, 1, 1, 0, 0, 1]
    masked = mask(ratio=0.5)(examples(starts), seed=0, epoch=0)
    shares = (masked.kinds.reshape(-1, 8) != NOT_SELECTED).mean(0)
    assert shares[[1, 2, 4, 5, 6]].max() == 0
    assert np.allclose(shares[[0, 3, 7]], 0.5, atol=0.08)
    assert set(masked.kinds) == {NOT_SELECTED, MASKED}


def test_a_word_before_a_special_or_a_separator_is_whole():
    masked = mask(ratio=1.0)(examples([1, 1, 1, 0], [0, 1, 0, 1]), seed=0, epoch=0)
    assert (masked.kinds.reshape(-1, 4)[0] != NOT_SELECTED).tolist() == [False, True, False, False]


def test_without_words_every_token_can_be_selected():
    masked = mask(ratio=1.0)(examples([1] * 6), seed=0, epoch=0)
    assert (masked.kinds == MASKED).all()


def test_it_is_the_same_in_every_epoch_and_empty_batches_pass():
    batch = examples([1, 1, 0, 1, 1])
    one, two = (mask(ratio=0.5)(batch, seed=0, epoch=epoch) for epoch in (0, 7))
    assert np.array_equal(one.input_ids, two.input_ids)
    assert mask()(examples([], copies=0), seed=0, epoch=0).labels.shape == (0,)
