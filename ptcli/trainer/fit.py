import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from ptcli.errors import CheckpointError, PtcliError
from ptcli.logger.logger import Logger
from ptcli.trainer.budget import Budget, is_due
from ptcli.trainer.checkpoint import Checkpoints, versions
from ptcli.trainer.folder import RunFolder
from ptcli.trainer.meter import Meter
from ptcli.trainer.seeds import seed_micro_batch
from ptcli.trainer.signals import StopSignals
from ptcli.trainer.state import TrainingState


class NotFiniteError(PtcliError):
    """The loss or its gradient became infinite or not-a-number."""


class Schedule(Protocol):
    """The learning rate's factor over the run."""

    def check(self, *, total_steps: int | None) -> None:
        """Raise ConfigError where it does not fit the budget."""
        ...

    def __call__(self, *, step: int, total_steps: int | None, before: float, after: float) -> float:
        """The factor for update `step` (from 0); `before`, `after`: shares of the budget behind then."""
        ...


class Loader(Protocol):
    """Optimiser steps for ever. A step has `micro_batches`, `counts`, `position` and `measured`."""

    def steps(self, position: Any, first_step: int) -> Iterator[Any]:
        """Steps from a data state on (None: the beginning), the first of them being number `first_step`."""
        ...


class Fit:
    """One call of `Trainer.fit`: the loop and what it works with. Arguments as there; `about` goes into the summary."""

    def __init__(
        self,
        *,
        step: nn.Module,
        optimizer: torch.optim.Optimizer,
        schedule: Schedule,
        budget: Budget,
        run: RunFolder,
        logger: Logger,
        seed: int,
        checkpoints: Checkpoints,
        device: torch.device,
        autocast: Callable[[], AbstractContextManager],
        clip: float | None,
        compile: bool,
        evaluate: Callable[[], dict[str, float]] | None,
        left_plateau: Callable[[dict[str, float]], bool | None] | None,
        best_metric: str,
        about: dict[str, Any],
    ):
        self.step, self.optimizer, self.schedule, self.budget = step, optimizer, schedule, budget
        self.run, self.logger, self.seed, self.checkpoints = run, logger, seed, checkpoints
        self.device, self.autocast, self.clip = device, autocast, clip
        self.evaluate, self.left_plateau, self.best_metric, self.about = evaluate, left_plateau, best_metric, about
        self.module = torch.compile(step) if compile else step
        self.parameters = [p for p in step.parameters() if p.requires_grad]
        self.state = TrainingState()
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])  # what the schedule multiplies

    def begin(self, identity: dict[str, str]) -> None:
        """Load the newest whole checkpoint, where there is one, and say what follows from it."""
        self.state = TrainingState(identity=identity)
        newest = self.checkpoints.newest(say=self.logger.say)
        if newest is not None:
            self.state = self.checkpoints.state(newest)
            self._refuse_another(identity)
            self.checkpoints.load(newest, self.step, self.optimizer)
            self.logger.say(f"going on from step {self.state.step:,}")
            self._say_another_budget()
        self.state.budget = self.budget.as_dict()
        self.run.cut_metrics(self.state.metrics_bytes)
        self.meter = Meter(self.device, self.state.meter)
        self._seconds_before, self._begun = self.state.seconds, time.perf_counter()
        self.summarise("running")

    def _refuse_another(self, identity: dict[str, str]) -> None:
        saved = self.state.identity
        changed = sorted(name for name in identity | saved if identity.get(name) != saved.get(name))
        if changed:
            raise CheckpointError(
                f"{self.run.path} was trained with another {' and another '.join(changed)}. "
                "Type run.name=NAME for a new run, or resume=never to begin this one again."
            )

    def _say_another_budget(self) -> None:
        if self.state.budget != self.budget.as_dict():
            (was,), (now,) = self.state.budget.items(), self.budget.as_dict().items()
            self.logger.say(
                f"the budget was {was[1]:g} {was[0]} and is now {now[1]:g} {now[0]}: "
                "the learning rate follows the new one from here on"
            )

    def seconds(self) -> float:
        """Of training so far, over every resume."""
        return self._seconds_before + time.perf_counter() - self._begun

    def train(
        self, loader: Loader, stop: StopSignals, *, log_every: float, eval_every: float, save_every: float
    ) -> None:
        """The loop. Each turn is one optimiser step; a signal ends it after the turn, with a checkpoint."""
        state, budget = self.state, self.budget
        if state.evaluation_pending and self.evaluate is not None:
            self.run_evaluation(stop)
        is_done = budget.done(state)
        steps = None if is_done else loader.steps(state.position, state.step)
        try:
            while steps is not None and not is_done and stop.requested is None:
                data = next(steps)
                before = budget.share(state)
                norm, total = self.gradient(data)
                state.step += 1
                state.tokens += data.counts["tokens"]
                state.epoch = data.measured.get("epoch", state.epoch)
                state.position = data.position
                state.seconds = self.seconds()
                after = budget.share(state)
                measured = {name: value for name, value in data.measured.items() if name != "epoch"}
                self.meter.add_step(step=state.step, total=total, norm=norm, counts=data.counts, measured=measured)
                if self.device.type == "cpu":
                    self.refuse_not_finite()
                self.update(before, after)

                is_done = budget.done(state)
                self.logger.progress(step=state.step, share=after, seconds=state.seconds)
                if is_done or is_due(log_every, step=state.step, before=before, after=after):
                    self.log()
                if self.evaluate and (is_done or is_due(eval_every, step=state.step, before=before, after=after)):
                    state.evaluation_pending = True
                    self.run_evaluation(stop)
                if is_done or stop.requested or is_due(save_every, step=state.step, before=before, after=after):
                    self.save()
        finally:
            if steps is not None and hasattr(steps, "close"):
                steps.close()  # type: ignore[attr-defined]  (a generator: its thread ends)

    def gradient(self, data: Any) -> tuple[Tensor, Tensor]:
        """Sum the gradient over the micro-batches and clip it. (its norm before clipping, the step's loss)."""
        self.step.train()
        self.optimizer.zero_grad(set_to_none=True)
        device = self.device
        step_total = torch.zeros((), device=device)
        for micro, batch in enumerate(data.micro_batches):
            seed_micro_batch(self.seed, step=self.state.step, micro=micro)
            batch = {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}
            with self.autocast():
                total, loss = self.module(batch, data.counts)
            total.backward()
            step_total = step_total + total.detach()
            self.meter.add_loss(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip or float("inf"))
        return norm, step_total

    def update(self, before: float, after: float) -> None:
        """Set the learning rate and take the optimiser's step. The state already counts it."""
        factor = self.schedule(
            step=self.state.step - 1, total_steps=self.budget.total_steps, before=before, after=after
        )
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor
        self.optimizer.step()

    def refuse_not_finite(self) -> None:
        """Raise NotFiniteError where a loss or gradient since the beginning was not finite. Waits for the device."""
        if (step := self.meter.bad_step()) is not None:
            last = f"step {self.checkpoints.steps()[-1]}" if self.checkpoints.steps() else "none"
            raise NotFiniteError(
                f"The loss or its gradient is not finite at step {step} (last checkpoint: {last}). A smaller "
                "optimizer.learning_rate, a longer schedule.warmup or trainer.precision=fp32 helps most often."
            )

    def log(self) -> None:
        """A log line."""
        self.refuse_not_finite()
        metrics = self.meter.line()
        metrics["train/learning_rate"] = self.optimizer.param_groups[0]["lr"]
        metrics["train/tokens"] = self.state.tokens
        metrics["train/epoch"] = self.state.epoch
        metrics["train/seconds"] = self.seconds()
        self.state.metrics |= metrics
        self.logger.log(self.state.step, metrics)

    def run_evaluation(self, stop: StopSignals) -> None:
        """Evaluate, note the best and the plateau. Broken off by a signal, it stays pending."""
        assert self.evaluate is not None
        begun = time.perf_counter()
        metrics = stop.unless_stopped(self.evaluate)
        self.meter.pause(time.perf_counter() - begun)
        if metrics is None:
            return
        state = self.state
        state.evaluation_pending = False
        state.metrics |= metrics
        self.logger.log(state.step, metrics)
        value = metrics.get(self.best_metric)
        if value is not None and (state.best is None or value < state.best):
            state.best, state.best_step = value, state.step
        has_left = self.left_plateau(metrics) if self.left_plateau else None
        state.plateau = None if has_left is None else not has_left
        if has_left and state.left_plateau_at is None:
            state.left_plateau_at = state.step
            self.logger.say(f"the plateau is left at step {state.step:,}: the model uses context")
        self.summarise("running")

    def save(self) -> None:
        """A checkpoint. Nothing that is not finite is ever saved."""
        self.refuse_not_finite()
        begun = time.perf_counter()
        self.state.seconds = self.seconds()
        self.state.meter = self.meter.saved()
        self.state.metrics_bytes = self.run.metrics_length()
        self.checkpoints.save(self.step, self.optimizer, self.state)
        self.meter.pause(time.perf_counter() - begun)

    def summarise(self, status: str) -> None:
        """Write summary.json, and tell the sinks when the run is over."""
        state = self.state
        state.seconds = self.seconds()
        values = {
            "status": status,
            "step": state.step,
            "tokens": state.tokens,
            "epoch": state.epoch,
            "seconds": round(state.seconds, 3),
            "budget": state.budget,
            "best": {"metric": self.best_metric, "value": state.best, "step": state.best_step},
            "plateau": state.plateau,
            "left_plateau_at": state.left_plateau_at,
            "metrics": state.metrics,
            "parameters": sum(p.numel() for p in self.step.parameters()),
            "versions": versions(),
            "error": None,
            **self.about,
        }
        self.run.write_summary(**values)
        if status == "finished" and state.plateau:
            self.logger.say(
                "the plateau is not left: at masked positions the model is no better than guessing by frequency. "
                "Rotary positions, a larger mask.ratio, a smaller vocabulary or a larger budget leave it"
            )
        if status != "running":
            self.logger.summary({k: v for k, v in values.items() if not isinstance(v, dict)})
