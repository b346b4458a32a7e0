import pytest
import torch
from torch import nn
from transformers.models.convbert.modeling_convbert import GroupedLinearLayer

from ptcli.errors import ConfigError
from ptcli.model.ffn.gelu import GeluFeedForward
from ptcli.model.ffn.grouped import GroupedFeedForward
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=8, num_heads=2, intermediate_size=12, embedding_size=8)


def theirs(layers: nn.ModuleList, inside: int, outside: int) -> GroupedLinearLayer:
    reference = GroupedLinearLayer(inside, outside, len(layers))
    with torch.no_grad():
        reference.weight.copy_(torch.stack([layer.weight.T for layer in layers]))
        reference.bias.copy_(torch.cat([layer.bias for layer in layers]))
    return reference


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_equals_convbert_s_grouped_layers(groups):
    module, hidden = GroupedFeedForward(SHAPE, groups=groups), torch.randn(2, 5, 8)
    wanted = theirs(module.down, 12, 8)(nn.functional.gelu(theirs(module.up, 8, 12)(hidden)))
    torch.testing.assert_close(module(hidden), wanted, rtol=1e-5, atol=1e-6)


def test_one_group_is_the_ordinary_network_and_more_have_fewer_weights():
    def weights(module: nn.Module) -> int:
        return sum(p.numel() for name, p in module.named_parameters() if "weight" in name)

    assert weights(GroupedFeedForward(SHAPE, groups=1)) == weights(GeluFeedForward(SHAPE))
    assert weights(GroupedFeedForward(SHAPE, groups=4)) == weights(GeluFeedForward(SHAPE)) / 4
    assert GroupedFeedForward(SHAPE, groups=4).flops_per_token() == GeluFeedForward(SHAPE).flops_per_token() / 4


@pytest.mark.parametrize(
    ("groups", "words"),
    [(3, "groups=3 does not divide model.hidden_size=8"), (8, "Use one of 1, 2, 3, 4, 6, 12"), (0, "groups=0")],
)
def test_refuses_unequal_groups(groups, words):
    with pytest.raises(ConfigError, match=words):
        GroupedFeedForward(SHAPE, groups=groups)
