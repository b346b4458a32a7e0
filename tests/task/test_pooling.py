"""Each example's vector is made of its own states, whatever else is in its row."""

import torch

from ptcli.task.pooling import AttentionPooling, ClassificationToken, LastToken, MaxPooling, MeanPooling, PooledToken

from .batches import batch_of


def test_the_states_of_the_classification_tokens():
    batch, hidden = batch_of(), torch.randn(3, 18, 8)
    vectors = ClassificationToken(8)(hidden, batch)
    torch.testing.assert_close(vectors, hidden[[0, 0, 1, 2, 2, 2], [0, 9, 0, 0, 6, 13]])


def test_it_follows_a_layout_that_classifies_last():
    batch, hidden = batch_of([[4, 3]]), torch.randn(1, 7, 8)
    batch["example_positions"] = torch.tensor([3, 6])
    torch.testing.assert_close(ClassificationToken(8)(hidden, batch), hidden[0, [3, 6]])


def test_dense_and_tanh_over_the_classification_token():
    batch, hidden = batch_of([[4, 3]]), torch.randn(1, 7, 8)
    pooling = PooledToken(8)
    dense = pooling.pooler.dense
    torch.testing.assert_close(pooling(hidden, batch), torch.tanh(dense(hidden[0, [0, 4]])))
    assert not dense.bias.any()
    assert dense.weight.std() < 0.03


def test_the_mean_over_the_real_tokens_of_each_example():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8)
    hidden[1, 5:] = float("nan")  # at padding states are arbitrary
    wanted = torch.stack((hidden[0, :4].mean(0), hidden[0, 4:].mean(0), hidden[1, :5].mean(0)))
    torch.testing.assert_close(MeanPooling(8)(hidden, batch), wanted)


def test_half_precision_states_are_summed_in_single():
    batch = batch_of([[40]])
    hidden = torch.full((1, 40, 1), 1.0, dtype=torch.bfloat16)
    hidden[0, 0] = 257 - 39
    assert MeanPooling(1)(hidden, batch).dtype == torch.float32


def test_the_largest_over_the_real_tokens_of_each_example():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8) - 9
    hidden[1, 5:] = 100.0
    wanted = torch.stack((hidden[0, :4].amax(0), hidden[0, 4:].amax(0), hidden[1, :5].amax(0)))
    torch.testing.assert_close(MaxPooling(8)(hidden, batch), wanted)


def test_the_last_real_token_of_each_example():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8)
    torch.testing.assert_close(LastToken(8)(hidden, batch), hidden[[0, 0, 1], [3, 6, 4]])


def test_shares_are_a_softmax_over_the_example_alone():
    torch.manual_seed(0)
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8)
    pooling = AttentionPooling(8)
    with torch.no_grad():
        pooling.score.weight.mul_(100)
    vectors = pooling(hidden, batch)
    for vector, states in zip(vectors, (hidden[0, :4], hidden[0, 4:], hidden[1, :5]), strict=True):
        shares = pooling.score(torch.tanh(pooling.dense(states))).softmax(0)
        assert shares.std() > 0.01
        torch.testing.assert_close(vector, (shares * states).sum(0))


def test_padding_that_is_not_finite_reaches_nothing():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8)
    pooling = AttentionPooling(8)
    other = hidden.clone()
    other[1, 5:] = 1e30
    torch.testing.assert_close(pooling(hidden, batch), pooling(other, batch))
