import torch

from ptcli.task.head.linear import LinearHead


def test_one_matrix_behind_dropout():
    head, states = LinearHead(8, num_outputs=3, dropout=0.5), torch.randn(4, 8)
    head.eval()
    torch.testing.assert_close(head(states), head.classifier(states))
    head.train()
    assert not torch.equal(head(states), head(states))
    assert LinearHead(8, num_outputs=3, dropout=0.0).dropout(states) is states
