import torch

from ptcli.task.pooling.attention import AttentionPooling

from ..batches import batch_of


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
