import pytest
import torch

from ptcli.objective.loss import Loss
from ptcli.trainer.meter import Meter


def add(meter, step, *, loss=2.0, count=4, total=1.0, norm=1.0, measured=None, maskable=10):
    meter.add_loss(
        Loss(
            sums={"masked_lm": torch.tensor(loss, requires_grad=True)},
            counts={"masked_lm": torch.tensor(count)},
            correct={"masked_lm": torch.tensor(1)},
        )
    )
    meter.add_step(
        step=step,
        total=torch.tensor(total),
        norm=torch.tensor(norm),
        counts={"tokens": 8, "maskable": maskable},
        measured=measured or {},
    )


def test_means_are_weighted_and_begin_anew():
    meter = Meter(torch.device("cpu"), {})
    add(meter, 1, loss=2.0, count=1, norm=1.0, measured={"mask_ratio": 0.5}, maskable=2)
    add(meter, 2, loss=4.0, count=5, norm=3.0, measured={"mask_ratio": 0.1}, maskable=8)
    line = meter.line()
    assert line["train/loss"] == line["train/masked_lm_loss"] == pytest.approx(1.0)
    assert line["train/masked_lm_accuracy"] == pytest.approx(2 / 6)
    assert line["train/mask_ratio"] == pytest.approx((0.5 * 2 + 0.1 * 8) / 10)
    assert line["train/grad_norm"] == 2.0
    add(meter, 3, loss=9.0, count=1)
    assert meter.line()["train/loss"] == 9.0


def test_what_was_not_measured_is_none_and_not_zero():
    meter = Meter(torch.device("cpu"), {})
    add(meter, 1, loss=0.0, count=0)
    line = meter.line()
    assert line["train/masked_lm_loss"] is None
    assert line["train/masked_lm_accuracy"] is None
    assert line["train/loss"] == 0.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["total", "norm"])
def test_the_first_step_that_is_not_finite_is_kept(bad, where):
    meter = Meter(torch.device("cpu"), {})
    add(meter, 1)
    assert meter.bad_step() is None
    add(meter, 2, **{where: bad})
    add(meter, 3, **{where: bad})
    add(meter, 4)
    assert meter.bad_step() == 2


def test_saved_sums_come_back_exactly():
    first, second = Meter(torch.device("cpu"), {}), Meter(torch.device("cpu"), {})
    for meter in (first, second):
        add(meter, 1, loss=0.1 + 0.2, measured={"mask_ratio": 1 / 3})
    second = Meter(torch.device("cpu"), second.saved())
    for meter in (first, second):
        add(meter, 2, loss=1 / 7, measured={"mask_ratio": 1 / 7})
    lines = [meter.line() for meter in (first, second)]
    for line in lines:
        line.pop("train/tokens_per_second")
    assert lines[0] == lines[1]


def test_pauses_do_not_count_as_training(monkeypatch):
    now = 100.0
    monkeypatch.setattr("ptcli.trainer.meter.time.perf_counter", lambda: now)
    meter = Meter(torch.device("cpu"), {})
    add(meter, 1)
    meter.add_work(tokens=8, operations=None, waited=0.0)
    now = 112.0
    meter.pause(10.0)
    assert meter.line()["train/tokens_per_second"] == pytest.approx(8 / 2)
