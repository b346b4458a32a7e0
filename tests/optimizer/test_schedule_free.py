import sys

import pytest
import torch

from ptcli.errors import ConfigError
from tests.optimizer.toy import build, one_matrix, take_steps, whole


def test_equal_to_the_paper_by_hand():
    """arXiv 2405.15682, algorithm 1: y = (1 - b) z + b x, an Adam step of z at y, x the average of z."""
    module = one_matrix([[0.3, -0.2]])
    optimizer = build("schedule_free", module, learning_rate=0.01, betas=[0.9, 0.98], eps=1e-3, weight_decay=0.1)
    z = x = module.weight.detach().clone()
    v = 0.0
    for t in range(1, 6):
        y = 0.1 * z + 0.9 * x
        torch.testing.assert_close(module.weight.detach(), y, rtol=1e-9, atol=1e-12)
        gradient = torch.tensor([[1.0, -2.0 * t]], dtype=torch.float64)
        module.weight.grad = gradient.clone()
        optimizer.step()
        v = 0.98 * v + 0.02 * gradient**2
        z = z - 0.01 * (gradient / ((v / (1 - 0.98**t)).sqrt() + 1e-3) + 0.1 * y)
        x = x + (z - x) / t
    optimizer.eval()
    torch.testing.assert_close(module.weight.detach(), x, rtol=1e-9, atol=1e-12)


def test_an_evaluation_changes_nothing_to_the_bit():
    looked_at, left_alone = whole(), whole()
    one, two = build("schedule_free", looked_at), build("schedule_free", left_alone)
    for number in range(6):
        take_steps(looked_at, one, [number])
        take_steps(left_alone, two, [number])
        before = looked_at.model.tokens.weight.detach().clone()
        one.eval()
        one.eval()  # twice is once
        assert number == 0 or not torch.equal(looked_at.model.tokens.weight, before)
        one.train()
        one.train()
        assert all(torch.equal(a, b) for a, b in zip(looked_at.parameters(), left_alone.parameters(), strict=True))


@pytest.mark.parametrize("settings", [{"betas": [0.0, 0.9]}, {"power": -1.0}])
def test_values_that_make_no_sense(settings):
    with pytest.raises(ConfigError, match=rf"optimizer\.{next(iter(settings))}"):
        build("schedule_free", whole(), **settings)


def test_without_the_library_it_says_what_to_install(monkeypatch):
    from ptcli.config.targets import _locate

    _locate.cache_clear()
    monkeypatch.setitem(sys.modules, "schedulefree", None)
    monkeypatch.delitem(sys.modules, "ptcli.optimizer.schedule_free", raising=False)
    with pytest.raises(ConfigError, match=r"pip install \"ptcli\[optimizers\]\""):
        _locate("ptcli.optimizer.schedule_free.ScheduleFree", ())
