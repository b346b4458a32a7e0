import torch

from ptcli.task.pooling.last import LastToken

from ..batches import batch_of


def test_the_last_real_token_of_each_example():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8)
    torch.testing.assert_close(LastToken(8)(hidden, batch), hidden[[0, 0, 1], [3, 6, 4]])
