"""The loop: one optimiser step after the other, with what is due after each."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ptcli.objective.loss import Loss
from ptcli.trainer.budget import is_due
from ptcli.trainer.signals import StopSignals

if TYPE_CHECKING:
    from ptcli.trainer.fit import Fit


def train(fit: "Fit", stop: StopSignals, *, leave_after: int | None = None) -> None:
    """Train until the budget is spent. Each turn is one optimiser step; a signal ends it after the turn, with a
    checkpoint.

    `leave_after`: a step after which it is left, as if the process were killed.
    """
    state, budget, every = fit.state, fit.training.budget, fit.every
    try:
        if state.evaluation_pending and fit.evaluates:
            fit.evaluate(stop)
        is_done = fit.is_done()
        while not is_done and fit.stopped(stop) is None and state.step != leave_after:
            fit.checkpoints.raise_failed()
            before = budget.share(state)
            take_step(fit, before, stop)
            after = budget.share(state)
            is_done = budget.done(state)
            fit.logger.progress(step=state.step, share=after, seconds=state.seconds)
            if is_done or is_due(every.log, step=state.step, before=before, after=after):
                fit.log()
            if fit.evaluates and (is_done or is_due(every.evaluate, step=state.step, before=before, after=after)):
                state.evaluation_pending = True
                fit.evaluate(stop)
                is_done = fit.is_done()
            is_ending = is_done or fit.stopped(stop) is not None
            if is_ending or is_due(every.save, step=state.step, before=before, after=after):
                fit.save()
        fit.checkpoints.finish()
    finally:
        fit.feed.close()
        if fit.profile is not None:
            fit.profile.stop()
        with suppress(Exception):  # the first error is the one to be told
            fit.checkpoints.finish()


def take_step(fit: "Fit", before: float, stop: StopSignals) -> None:
    """One optimiser step, from its data to the new weights. `before`: share of the budget that is behind."""
    state, meter, begun = fit.state, fit.meter, time.perf_counter()
    data = fit.feed.next(state, before)
    waited, phase = time.perf_counter() - begun, fit.feed.phase(state)
    data = fit.agreement.on(data, seconds=fit.clock(), stop=stop.requested)
    meter.add_work(tokens=data.counts["tokens"], operations=phase.operations, waited=waited)
    losses: list[Loss] = []
    norm, total = fit.gradient(data, number=state.step, add_loss=losses.append, most=fit.agreement.most)
    state.step += 1
    fit.nonfinite.begin(state)
    is_skipped = fit.nonfinite.skips(norm, state)
    state.tokens += data.counts["tokens"]
    state.epoch = state.passes_before + data.measured.get("epoch", state.epoch - state.passes_before)
    state.position = data.position
    state.seconds = fit.seconds()
    if is_skipped:
        return
    for loss in losses:
        meter.add_loss(loss)
    measured = {name: value for name, value in data.measured.items() if name != "epoch"}
    meter.add_step(step=state.step, total=total, norm=norm, counts=data.counts, measured=measured)
    if fit.device.type == "cpu":
        fit.nonfinite.refuse(meter, state)
    update(fit, before, rate=phase.rate)


def update(fit: "Fit", before: float, *, rate: float) -> None:
    """Set the learning rate and take the optimiser's step. The state already counts it."""
    budget, step = fit.training.budget, fit.state.step - 1
    after = budget.share(fit.state)
    factor = fit.training.schedule(step=step, total_steps=budget.total_steps, before=before, after=after)
    for group in fit.training.optimizer.param_groups:
        group["lr"] = group["initial_lr"] * factor * rate
    fit.norms.step(number=step + 1, before=before, after=after)
    if fit.average is not None:
        fit.average.update(step)
    if fit.profile is not None:
        fit.profile.step()
    if fit.first_steps is not None:
        begun = time.perf_counter()
        fit.first_steps.after(step + 1)
        fit.meter.pause(time.perf_counter() - begun)
