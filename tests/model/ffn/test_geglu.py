import math

import pytest
import torch

from ptcli.model.ffn.geglu import GegluFeedForward
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=8, num_heads=2, intermediate_size=12, embedding_size=8)


def test_equals_the_formula():
    module, hidden = GegluFeedForward(SHAPE), torch.randn(1, 5, 8)
    assert module.up.out_features == 24
    activated, gate = module.up(hidden)[..., :12], module.up(hidden)[..., 12:]
    wanted = module.down(activated * 0.5 * (1 + torch.erf(activated / math.sqrt(2))) * gate)
    torch.testing.assert_close(module(hidden), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "biases"),
    [
        ({}, {"up.bias", "down.bias"}),
        ({"bias": False}, set()),
        ({"bias": False, "output_bias": True}, {"down.bias"}),
        ({"output_bias": False}, {"up.bias"}),
    ],
    ids=["both", "neither", "output", "input"],
)
def test_biases(settings, biases):
    names = {name for name, _ in GegluFeedForward(SHAPE, **settings).named_parameters()}
    assert names == {"up.weight", "down.weight"} | biases
