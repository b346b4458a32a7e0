import torch

from ptcli.task.pooling.pooler import PooledToken

from ..batches import batch_of


def test_dense_and_tanh_over_the_classification_token():
    batch, hidden = batch_of([[4, 3]]), torch.randn(1, 7, 8)
    pooling = PooledToken(8)
    dense = pooling.pooler.dense
    torch.testing.assert_close(pooling(hidden, batch), torch.tanh(dense(hidden[0, [0, 4]])))
    assert not dense.bias.any()
    assert dense.weight.std() < 0.03
