import torch

from ptcli.task.head.tanh import TanhHead


def test_a_dense_layer_and_tanh_before_the_matrix():
    head, states = TanhHead(8, num_outputs=3), torch.randn(4, 8)
    head.eval()
    torch.testing.assert_close(head(states), head.classifier(torch.tanh(head.dense(states))))
    head.train()
    assert not torch.equal(head(states), head(states))
