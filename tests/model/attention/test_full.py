import pytest
import torch

from ptcli.model.attention.full import FullAttention
from ptcli.model.context import Context
from ptcli.model.shape import Shape

SHAPE = Shape(vocab_size=5, num_layers=1, hidden_size=32, num_heads=4, intermediate_size=8, embedding_size=32)


def attention(dropout=0.0, bias=True):
    torch.manual_seed(0)
    return FullAttention(SHAPE, dropout=dropout, bias=bias)


def by_hand(module, hidden, mask):
    query, key, value = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in module.qkv(hidden).chunk(3, -1))
    scores = query @ key.transpose(2, 3) / 8**0.5
    probabilities = (scores if mask is None else scores + mask).softmax(-1)
    return module.output((probabilities @ value).transpose(1, 2).flatten(2))


def block_mask(dtype=torch.float32):
    same = torch.block_diag(torch.ones(4, 4), torch.ones(5, 5)).bool()
    return torch.zeros(1, 1, 9, 9, dtype=dtype).masked_fill(~same, float("-inf"))


@pytest.mark.parametrize("masked", [False, True])
def test_equals_the_formula(masked):
    module, hidden = attention(), torch.randn(2, 9, 32)
    mask = block_mask() if masked else None
    torch.testing.assert_close(module(hidden, Context(mask)), by_hand(module, hidden, mask), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_both_ways_to_compute_give_the_same_gradients(masked, monkeypatch):
    mask = block_mask(torch.bfloat16) if masked else None
    gradients = []
    for products in (True, False):
        monkeypatch.setattr("ptcli.model.attention.full._products_are_faster", lambda *_, answer=products: answer)
        module = attention().bfloat16()
        hidden = torch.linspace(-1, 1, 2 * 9 * 32).view(2, 9, 32).sin().bfloat16().requires_grad_()
        module(hidden, Context(mask)).float().square().sum().backward()
        gradients.append(hidden.grad.float())
    torch.testing.assert_close(*gradients, rtol=0.1, atol=0.02 * gradients[0].abs().max().item())


def test_dropout_keeps_the_mean():
    dropping, exact = attention(dropout=0.3), attention()
    hidden = torch.randn(1, 9, 32)
    torch.manual_seed(1)
    many = dropping(hidden.expand(4000, -1, -1), Context(None)).mean(0)
    wanted = exact(hidden, Context(None))[0]
    # 4000 draws: a fifth of the deviation of one draw, times 5 standard errors, stays under 0.02 here
    assert (many - wanted).abs().max() < 0.02
    assert torch.equal(dropping.eval()(hidden, Context(None)), exact.eval()(hidden, Context(None)))


def test_without_biases():
    assert {name for name, _ in attention(bias=False).named_parameters()} == {"qkv.weight", "output.weight"}


def test_keys_without_a_bias():
    module, hidden = FullAttention(SHAPE, dropout=0.0, key_bias=False), torch.randn(2, 9, 32)
    assert "qkv.bias" not in module.state_dict()
    same = attention()
    with torch.no_grad():
        module.query_value_bias.copy_(torch.randn(2, 32))
        same.load_state_dict(module.state_dict(), strict=False)
        query, value = module.query_value_bias
        same.qkv.bias.copy_(torch.cat((query, torch.zeros(32), value)))
    torch.testing.assert_close(module(hidden, Context(None)), same(hidden, Context(None)))
    assert set(FullAttention(SHAPE, dropout=0.0, bias=False, key_bias=False).state_dict()) == {
        "qkv.weight",
        "output.weight",
    }
