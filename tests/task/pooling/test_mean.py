import torch

from ptcli.task.pooling.mean import MeanPooling

from ..batches import batch_of


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
