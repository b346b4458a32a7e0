import torch

from ptcli.task.pooling.cls import ClassificationToken

from ..batches import batch_of


def test_the_states_of_the_classification_tokens():
    batch, hidden = batch_of(), torch.randn(3, 18, 8)
    vectors = ClassificationToken(8)(hidden, batch)
    torch.testing.assert_close(vectors, hidden[[0, 0, 1, 2, 2, 2], [0, 9, 0, 0, 6, 13]])


def test_it_follows_a_layout_that_classifies_last():
    batch, hidden = batch_of([[4, 3]]), torch.randn(1, 7, 8)
    batch["example_positions"] = torch.tensor([3, 6])
    torch.testing.assert_close(ClassificationToken(8)(hidden, batch), hidden[0, [3, 6]])
