import pytest
import torch
from torch.nn import functional as F

from ptcli.errors import ConfigError
from ptcli.task.losses.values import ClassesLoss, ValueLoss

NAN = float("nan")


def test_squared_errors_where_there_is_a_value():
    outputs = torch.tensor([[1.0], [2.0], [4.0]], requires_grad=True)
    scored = ValueLoss()(outputs, {"example_labels": torch.tensor([0.5, NAN, 1.0])})
    assert scored.losses.tolist() == [0.25, 0.0, 9.0]
    scored.losses.sum().backward()
    assert outputs.grad[:, 0].tolist() == [1.0, 0.0, 6.0]
    assert scored.hits is None
    assert ValueLoss().divergence(outputs, outputs + 2, {}) == 12


def test_each_label_is_a_yes_or_no():
    outputs = torch.tensor([[2.0, -1.0], [0.5, 0.5], [1.0, 1.0]], requires_grad=True)
    labels = torch.tensor([[1.0, 0.0], [1.0, 0.0], [NAN, NAN]])
    scored = ClassesLoss()(outputs, {"example_labels": labels})
    wanted = F.binary_cross_entropy_with_logits(outputs[:2], labels[:2], reduction="none").mean(-1)
    torch.testing.assert_close(scored.losses[:2], wanted)
    assert scored.is_scored.tolist() == [True, True, False]
    assert scored.hits.tolist()[:2] == [True, False]
    scored.losses.sum().backward()
    assert not outputs.grad[2].any()


def test_the_divergence_of_yes_or_no_is_that_of_two_labels_each():
    one, other = torch.tensor([[2.0, -1.0]]), torch.tensor([[0.0, 3.0]])
    wanted = torch.zeros(())
    for a, b in zip(one[0].sigmoid(), other[0].sigmoid(), strict=True):
        p, q = torch.stack((a, 1 - a)), torch.stack((b, 1 - b))
        wanted += ((p - q) * (p / q).log()).sum()
    torch.testing.assert_close(ClassesLoss().divergence(one, other, {}), wanted / 2)


def test_no_label_is_refused():
    with pytest.raises(ConfigError, match="no label"):
        ClassesLoss().num_outputs(0)
