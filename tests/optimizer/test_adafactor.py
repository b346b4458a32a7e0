import pytest
import torch

from ptcli.errors import ConfigError
from ptcli.optimizer.adafactor import Adafactor
from tests.optimizer.toy import build, one_matrix, whole


def test_equal_to_the_paper_by_hand():
    """arXiv 1804.04235, algorithms 4 and 5, with T5's settings: no first moment, clipping at 1, relative steps."""
    module = one_matrix([[0.3, -0.2, 0.1], [0.5, 0.05, -0.4]])
    optimizer = Adafactor(module, learning_rate=0.01)
    weight = module.weight.detach().clone()
    row, column = torch.zeros(2, 1, dtype=torch.float64), torch.zeros(1, 3, dtype=torch.float64)
    for t in range(1, 6):
        gradient = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(t))
        module.weight.grad = gradient.clone()
        optimizer.step()
        kept = 1 - t**-0.8
        row = kept * row + (1 - kept) * (gradient**2).mean(1, keepdim=True)
        column = kept * column + (1 - kept) * (gradient**2).mean(0, keepdim=True)
        update = gradient / (row @ column / row.mean()).sqrt()
        update = update / max(1.0, float(update.square().mean().sqrt()))
        scale = max(1e-3, float(weight.square().mean().sqrt()))
        weight = weight - min(0.01, t**-0.5) * scale * update
        torch.testing.assert_close(module.weight.detach(), weight, rtol=1e-9, atol=1e-12)


def test_it_remembers_rows_and_columns_only():
    module = whole()
    optimizer = build("adafactor", module)
    module.loss(0).backward()
    optimizer.step()
    state = optimizer.state[module.model.tokens.weight]
    assert sum(value.numel() for value in state.values()) == 1 + 11 + 6


def test_rows_without_gradient_stay_and_zeros_grow():
    module = one_matrix([[0.0, 0.0], [0.0, 0.0]])
    optimizer = Adafactor(module, learning_rate=0.01)
    for _ in range(3):
        module.weight.grad = torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
        optimizer.step()
    assert module.weight[0].abs().min() > 0
    assert module.weight[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("settings", [{"min_scale": 0.0}, {"decay_rate": -0.1}, {"clip": 0.5}])
def test_values_that_make_no_sense(settings):
    with pytest.raises(ConfigError, match=rf"optimizer\.{next(iter(settings))}="):
        Adafactor(one_matrix([[1.0]]), **settings)
