import pytorch_optimizer
import torch

from ptcli.optimizer.adamw import AdamW
from ptcli.optimizer.stable_adamw import StableAdamW
from tests.optimizer.toy import one_matrix


def gradients(count, *, spike=()):
    for t in range(count):
        gradient = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(t))
        yield gradient * (1000.0 if t in spike else 1.0)


START = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]


def test_equal_to_the_paper_by_hand():
    """arXiv 2304.13013, algorithm 2: the rate is divided by max(1, RMS) before decay and step."""
    module = one_matrix(START)
    optimizer = StableAdamW(module, learning_rate=0.01, betas=(0.9, 0.98), eps=1e-3, weight_decay=0.1)
    weight, m, v = module.weight.detach().clone(), 0.0, 0.0
    for t, gradient in enumerate(gradients(6, spike=(4,)), start=1):
        module.weight.grad = gradient.clone()
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        first, second = m / (1 - 0.9**t), v / (1 - 0.98**t)
        rms = (gradient**2 / second.clamp(min=1e-6)).mean().sqrt()
        rate = 0.01 / max(1.0, float(rms))
        weight = weight * (1 - rate * 0.1) - rate * first / (second.sqrt() + 1e-3)
        torch.testing.assert_close(module.weight.detach(), weight, rtol=1e-9, atol=1e-12)
        assert (float(rms) > 2) == (t == 5)  # the spike is seen


def test_equal_to_the_librarys():
    ours, theirs = one_matrix(START), one_matrix(START)
    one = StableAdamW(ours, learning_rate=0.01, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01)
    two = pytorch_optimizer.StableAdamW(theirs.parameters(), lr=0.01, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01)
    for gradient in gradients(6, spike=(2,)):
        ours.weight.grad, theirs.weight.grad = gradient.clone(), gradient.clone()
        one.step()
        two.step()
        torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-9, atol=1e-12)


def test_a_spike_moves_less_than_with_adamw():
    moved = {}
    for optimizer_class in (AdamW, StableAdamW):
        module = one_matrix(START)
        optimizer = optimizer_class(module, learning_rate=0.01, betas=(0.9, 0.999), weight_decay=0.0)
        for t, gradient in enumerate(gradients(101, spike=(100,))):
            module.weight.grad = gradient
            before = module.weight.detach().clone()
            optimizer.step()
            if t == 100:
                moved[optimizer_class] = float((module.weight.detach() - before).norm())
    assert moved[StableAdamW] < 0.2 * moved[AdamW]
