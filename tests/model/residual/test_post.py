import torch

from ptcli.model.norm.layernorm import LayerNorm
from ptcli.model.residual.post import PostNorm


def test_norm_after_the_sum():
    residual, hidden = PostNorm(8, norm=LayerNorm, dropout=0.0), torch.randn(1, 3, 8)
    out = residual(hidden, lambda x, factor: x * factor, 3)
    torch.testing.assert_close(out, residual.norm(hidden * 4))
    assert not PostNorm.final_norm


def test_dropout_falls_on_the_sublayer_only():
    residual, hidden = PostNorm(8, norm=lambda _: torch.nn.Identity(), dropout=0.99), torch.ones(1, 500, 8)
    out = residual(hidden, torch.zeros_like)
    assert torch.equal(out, hidden)
