import torch

from ptcli.model.norm.layernorm import LayerNorm
from ptcli.model.residual.pre import PreNorm


def test_norm_before_the_sublayer():
    residual, hidden = PreNorm(8, norm=LayerNorm, dropout=0.0), torch.randn(1, 3, 8)
    out = residual(hidden, lambda x, factor: x * factor, 3)
    torch.testing.assert_close(out, hidden + 3 * residual.norm(hidden))
    assert PreNorm.final_norm


def test_dropout_falls_on_the_sublayer_only():
    residual, hidden = PreNorm(8, norm=lambda _: torch.nn.Identity(), dropout=0.99), torch.ones(1, 500, 8)
    out = residual(hidden, torch.zeros_like)
    assert torch.equal(out, hidden)


def test_the_first_norm_can_be_left_out():
    hidden = torch.randn(2, 5, 8)
    settings = {"norm": LayerNorm, "dropout": 0.0}
    left_out = PreNorm(8, first=True, skip_first=True, **settings)
    torch.testing.assert_close(left_out(hidden, lambda x: 2 * x), 3 * hidden)
    assert not list(left_out.parameters())
    for other in (PreNorm(8, first=True, **settings), PreNorm(8, skip_first=True, **settings)):
        assert torch.equal(other(hidden, lambda x: 2 * x), PreNorm(8, **settings)(hidden, lambda x: 2 * x))
