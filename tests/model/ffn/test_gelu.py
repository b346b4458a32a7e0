import math

import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.model.ffn.gelu import GeluFeedForward
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=8, num_heads=2, intermediate_size=12, embedding_size=8)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_equals_the_formula(approximate):
    module, hidden = GeluFeedForward(SHAPE, approximate=approximate), torch.randn(1, 5, 8)
    x = module.up(hidden)
    if approximate == "none":
        activated = x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    else:
        activated = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    torch.testing.assert_close(module(hidden), module.down(activated), rtol=1e-5, atol=1e-6)


def test_without_biases():
    assert {n for n, _ in GeluFeedForward(SHAPE, bias=False).named_parameters()} == {"up.weight", "down.weight"}


def test_refuses_an_unknown_form():
    with pytest.raises(ConfigError, match="approximate=sigmoid is no form of GELU"):
        GeluFeedForward(SHAPE, approximate="sigmoid")
