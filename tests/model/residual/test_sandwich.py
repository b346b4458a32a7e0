import torch

from ptcli.model.norm.layernorm import LayerNorm
from ptcli.model.residual.sandwich import SandwichNorm


def test_norms_what_enters_and_what_leaves_the_sublayer():
    residual, hidden = SandwichNorm(8, norm=LayerNorm, dropout=0.0), torch.randn(2, 5, 8)
    with torch.no_grad():
        residual.outer_norm.weight.mul_(3)
    wanted = hidden + residual.outer_norm(7 * residual.norm(hidden) + 1)
    torch.testing.assert_close(residual(hidden, lambda x: 7 * x + 1), wanted)
    assert SandwichNorm.final_norm


def test_what_is_added_does_not_grow_with_the_sublayer():
    residual, hidden = SandwichNorm(8, norm=LayerNorm, dropout=0.0), torch.randn(2, 5, 8)
    torch.testing.assert_close(residual(hidden, lambda x: 1e6 * x), residual(hidden, lambda x: x), rtol=1e-4, atol=1e-4)
