import torch

from ptcli.model.ffn.relu import ReluFeedForward
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=8, num_heads=2, intermediate_size=12, embedding_size=8)


def test_equals_the_formula():
    module, hidden = ReluFeedForward(SHAPE), torch.randn(1, 5, 8)
    torch.testing.assert_close(module(hidden), module.down(module.up(hidden).clamp_min(0)))


def test_without_biases():
    assert {n for n, _ in ReluFeedForward(SHAPE, bias=False).named_parameters()} == {"up.weight", "down.weight"}
