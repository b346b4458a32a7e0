import torch

from ptcli.model.norm.layernorm import LayerNorm


def test_mean_variance_scale_and_shift():
    norm = LayerNorm(16, eps=1e-3)
    x = torch.randn(4, 16) * 3 + 5
    with torch.no_grad():
        norm.weight.fill_(2), norm.bias.fill_(-1)
    wanted = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-3).sqrt() * 2 - 1
    torch.testing.assert_close(norm(x), wanted)


def test_defaults_are_berts():
    assert LayerNorm(4).eps == 1e-12
    assert LayerNorm(4, bias=False).bias is None
