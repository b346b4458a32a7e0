import pytest
import torch

from ptcli.optimizer.lamb import Lamb
from tests.optimizer.toy import one_matrix


@pytest.mark.parametrize("bias_correction", [True, False])
def test_equal_to_lamb_by_hand(bias_correction):
    """google-research/albert, lamb_optimizer.py: the bias has neither decay nor adaptation there."""
    module = one_matrix([[0.3, -0.2]], bias=[0.5])
    optimizer = Lamb(
        module, learning_rate=0.1, betas=(0.9, 0.98), eps=1e-3, weight_decay=0.1, bias_correction=bias_correction
    )
    weight, bias = module.weight.detach().clone(), module.bias.detach().clone()
    moments = {"weight": (0.0, 0.0), "bias": (0.0, 0.0)}
    for t in range(1, 6):
        steps = {}
        for name, gradient in (("weight", [[1.0, -2.0 * t]]), ("bias", [0.3 * t])):
            gradient = torch.tensor(gradient, dtype=torch.float64)
            getattr(module, name).grad = gradient.clone()
            m, v = moments[name]
            m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
            moments[name] = m, v
            first, second = (1 - 0.9**t, 1 - 0.98**t) if bias_correction else (1, 1)
            steps[name] = (m / first) / ((v / second).sqrt() + 1e-3)
        optimizer.step()
        update = steps["weight"] + 0.1 * weight
        weight = weight - 0.1 * weight.norm() / update.norm() * update
        bias = bias - 0.1 * steps["bias"]
        torch.testing.assert_close(module.weight.detach(), weight, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(module.bias.detach(), bias, rtol=1e-9, atol=1e-12)


def test_a_step_is_as_long_as_the_tensor_says():
    module = one_matrix([[3.0, 4.0]])
    optimizer = Lamb(module, learning_rate=0.01)
    module.weight.grad = torch.tensor([[1e-3, 7.0]], dtype=torch.float64)
    before = module.weight.detach().clone()
    optimizer.step()
    assert float((module.weight.detach() - before).norm()) == pytest.approx(0.01 * 5.0)


def test_the_ratio_is_one_where_a_length_is_zero():
    module = one_matrix([[0.0, 0.0]])
    optimizer = Lamb(module, learning_rate=0.01, eps=1e-9, bias_correction=True)
    module.weight.grad = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    optimizer.step()
    torch.testing.assert_close(module.weight.detach(), torch.tensor([[-0.01, 0.01]], dtype=torch.float64))

    module = one_matrix([[1.0, 2.0]])
    optimizer = Lamb(module, learning_rate=0.01, weight_decay=0.0)
    module.weight.grad = torch.zeros(1, 2, dtype=torch.float64)
    optimizer.step()
    assert module.weight.tolist() == [[1.0, 2.0]]


def test_vectors_are_adapted_on_request_and_when_everything_decays():
    for settings, adapts in (({}, False), ({"adapt_exempt": True}, True), ({"decay_exempt": "none"}, True)):
        module = one_matrix([[1.0]], bias=[3.0, 4.0])
        optimizer = Lamb(module, learning_rate=0.01, weight_decay=0.0, bias_correction=True, **settings)
        module.bias.grad = torch.tensor([1.0, 1.0], dtype=torch.float64)
        before = module.bias.detach().clone()
        optimizer.step()
        expected = 0.01 * (5.0 if adapts else 2**0.5)
        assert float((module.bias.detach() - before).norm()) == pytest.approx(expected, rel=1e-5)
