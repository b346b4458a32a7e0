import torch

from ptcli.task.pooling.max import MaxPooling

from ..batches import batch_of


def test_the_largest_over_the_real_tokens_of_each_example():
    batch, hidden = batch_of([[4, 3], [5]]), torch.randn(2, 7, 8) - 9
    hidden[1, 5:] = 100.0
    wanted = torch.stack((hidden[0, :4].amax(0), hidden[0, 4:].amax(0), hidden[1, :5].amax(0)))
    torch.testing.assert_close(MaxPooling(8)(hidden, batch), wanted)
