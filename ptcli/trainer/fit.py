import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from ptcli.errors import CheckpointError, PtcliError
from ptcli.logger.logger import Logger
from ptcli.objective.loss import Loss
from ptcli.run.folder import RunFolder
from ptcli.trainer.agreement import Agreement
from ptcli.trainer.average import Average
from ptcli.trainer.budget import Budget, is_due
from ptcli.trainer.checkpoint import Checkpoints, snapshot, versions
from ptcli.trainer.feed import Feed, Phase
from ptcli.trainer.first_steps import FirstSteps
from ptcli.trainer.gradient import Gradient
from ptcli.trainer.judged import judged_weights
from ptcli.trainer.meter import Meter
from ptcli.trainer.norms import Norms
from ptcli.trainer.parallel import Single
from ptcli.trainer.precision import LossScale
from ptcli.trainer.profile import Profile
from ptcli.trainer.signals import StopSignals
from ptcli.trainer.state import TrainingState
from ptcli.trainer.usage import Power, memory

MOST_SKIPPED = 20
"""Steps in a row whose gradient is not finite; one more ends the run, however they are to be treated."""


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


class Fit:
    """One call of `Trainer.fit`: the loop and what it works with. Arguments as there; `about` goes into the summary."""

    def __init__(
        self,
        *,
        strategy: Single,
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
        norms: Norms,
        phases: Sequence[Phase],
        scale: LossScale | None,
        on_nonfinite: str,
        patience: int | None,
        average: float | None,
        profile: bool,
        ceiling: float | None,
        evaluate: Callable[[], dict[str, float]] | None,
        left_plateau: Callable[[dict[str, float]], bool | None] | None,
        best_metric: str,
        higher_is_better: bool,
        about: dict[str, Any],
    ):
        self.strategy, self.ranks, self.step = strategy, strategy.ranks, strategy.step
        self.optimizer, self.norms, self.schedule, self.budget = optimizer, norms, schedule, budget
        self.run, self.logger, self.seed, self.checkpoints = run, logger, seed, checkpoints
        self.device = device
        self.evaluate, self.left_plateau, self.best_metric, self.about = evaluate, left_plateau, best_metric, about
        self.higher_is_better = higher_is_better
        self.scale, self.on_nonfinite, self.patience, self.ceiling = scale, on_nonfinite, patience, ceiling
        self.gradient = Gradient(
            strategy, compile=compile, device=device, autocast=autocast, clip=clip, seed=seed, scale=scale
        )
        self.agreement = Agreement(self.ranks)
        self.feed = Feed(phases, say=logger.say)
        self.average = Average(strategy.trained, decay=average) if average else None
        is_profiled = profile and self.ranks.is_first
        self.profile = Profile(run.path / "profile.json.gz", device=device, say=logger.say) if is_profiled else None
        self.power = Power(device)
        self.first_steps: FirstSteps | None = None
        self.unchecked: dict[int, tuple[int, Any]] = {}  # phase and position of steps not yet known to be finite
        self.state = TrainingState()
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])  # what the schedule multiplies

    def begin(self, identity: dict[str, str]) -> None:
        """Load the newest whole checkpoint, where there is one, and say what follows from it."""
        self.state = TrainingState(identity=identity)
        if self.budget.unit != "minutes" and self.ranks.size == 1:  # others do not repeat
            corpus = identity.get("corpus", "")
            self.first_steps = FirstSteps(self.run.path, self.step, device=self.device, corpus=corpus)
        found = self.ranks.from_first(self._newest)
        if found is not None:
            newest = Path(found)
            self.state = self.checkpoints.state(newest)
            self._refuse_another(identity)
            self.checkpoints.load(newest, self.strategy.trained, self.optimizer)
            if self.average is not None:
                self.average.load(self.checkpoints.average(newest))
            if self.scale is not None:
                self.scale.load(self.state.loss_scale)
            self.logger.say(f"going on from step {self.state.step:,}")
            self._say_another_budget()
        self.state.budget = self.budget.as_dict()
        if self.ranks.is_first:
            self.run.cut_metrics(self.state.metrics_bytes)
        ceiling = self.ceiling and self.ceiling * self.ranks.size
        self.meter = Meter(self.device, self.state.meter, ceiling=ceiling, ranks=self.ranks)
        self.agreement.seconds = self.state.seconds
        self._seconds_before, self._begun = self.state.seconds, time.perf_counter()
        self.summarise("running")

    def _newest(self) -> str | None:
        newest = self.checkpoints.newest(say=self.logger.say)
        return None if newest is None else str(newest)

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
        """Of training so far, over every resume; where ranks must agree, by rank 0's clock before the step."""
        return self._clock() if self.ranks.size == 1 else self.agreement.seconds

    def _clock(self) -> float:
        return self._seconds_before + time.perf_counter() - self._begun

    def stopped(self, stop: StopSignals) -> int | None:
        """The signal that ends the run; of several ranks, one that all of them know of."""
        return stop.requested if self.ranks.size == 1 else self.agreement.stop

    def train(
        self,
        stop: StopSignals,
        *,
        log_every: float,
        eval_every: float,
        save_every: float,
        leave_after: int | None = None,
    ) -> None:
        """The loop. Each turn is one optimiser step; a signal ends it after the turn, with a checkpoint.

        `leave_after`: a step after which it is left, as if the process were killed.
        """
        state, budget = self.state, self.budget
        try:
            if state.evaluation_pending and self.evaluate is not None:
                self.run_evaluation(stop)
            is_done = self.is_done()
            while not is_done and self.stopped(stop) is None and state.step != leave_after:
                self.checkpoints.raise_failed()
                before = budget.share(state)
                self.take_step(before, stop)
                after = budget.share(state)
                is_done = budget.done(state)
                self.logger.progress(step=state.step, share=after, seconds=state.seconds)
                if is_done or is_due(log_every, step=state.step, before=before, after=after):
                    self.log()
                if self.evaluate and (is_done or is_due(eval_every, step=state.step, before=before, after=after)):
                    state.evaluation_pending = True
                    self.run_evaluation(stop)
                    is_done = self.is_done()
                is_ending = is_done or self.stopped(stop) is not None
                if is_ending or is_due(save_every, step=state.step, before=before, after=after):
                    self.save()
            self.checkpoints.finish()
        finally:
            self.feed.close()
            if self.profile is not None:
                self.profile.stop()
            with suppress(Exception):  # the first error is the one to be told
                self.checkpoints.finish()

    def is_done(self) -> bool:
        """Whether the budget is spent, or evaluations have long not become better."""
        return self.budget.done(self.state) or self.is_stale()

    def is_stale(self) -> bool:
        """Whether as many evaluations as `patience` were no better than the best one."""
        return self.patience is not None and self.state.without_better >= self.patience

    def take_step(self, before: float, stop: StopSignals) -> None:
        """One optimiser step, from its data to the new weights."""
        state, begun = self.state, time.perf_counter()
        data = self.feed.next(state, before)
        waited, phase = time.perf_counter() - begun, self.feed.phase(state)
        data = self.agreement.on(data, seconds=self._clock(), stop=stop.requested)
        self.meter.add_work(tokens=data.counts["tokens"], operations=phase.operations, waited=waited)
        losses: list[Loss] = []
        norm, total = self.gradient(data, number=state.step, add_loss=losses.append, most=self.agreement.most)
        state.step += 1
        self.unchecked[state.step] = state.phase, state.position
        is_skipped = self.skips(norm)
        state.tokens += data.counts["tokens"]
        state.epoch = state.passes_before + data.measured.get("epoch", state.epoch - state.passes_before)
        state.position = data.position
        state.seconds = self.seconds()
        if is_skipped:
            return
        for loss in losses:
            self.meter.add_loss(loss)
        measured = {name: value for name, value in data.measured.items() if name != "epoch"}
        self.meter.add_step(step=state.step, total=total, norm=norm, counts=data.counts, measured=measured)
        if self.device.type == "cpu":
            self.refuse_not_finite()
        self.update(before, self.budget.share(state), rate=phase.rate)

    def update(self, before: float, after: float, *, rate: float) -> None:
        """Set the learning rate and take the optimiser's step. The state already counts it."""
        step = self.state.step - 1
        factor = self.schedule(step=step, total_steps=self.budget.total_steps, before=before, after=after)
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor * rate
        self.norms.step(number=step + 1, before=before, after=after)
        if self.average is not None:
            self.average.update(step)
        if self.profile is not None:
            self.profile.step()
        if self.first_steps is not None:
            begun = time.perf_counter()
            self.first_steps.after(step + 1)
            self.meter.pause(time.perf_counter() - begun)

    def skips(self, norm: Tensor) -> bool:
        """Whether the step's gradient is to be left unused. Waits for the device where it may be."""
        if self.scale is None and self.on_nonfinite == "stop":
            return False
        is_finite, state = bool(torch.isfinite(norm)), self.state
        if self.scale is not None:
            self.scale.adapt(overflowed=not is_finite)
        if is_finite:
            state.skipped_in_a_row = 0
            return False
        state.skipped += 1
        state.skipped_in_a_row += 1
        if state.skipped_in_a_row > MOST_SKIPPED:
            raise self._not_finite(state.step, f"and so were those of the {MOST_SKIPPED} steps before")
        if self.on_nonfinite == "skip":
            self.logger.say(f"step {state.step:,} is skipped, its gradient is not finite{self._examples(state.step)}")
        return True

    def refuse_not_finite(self) -> None:
        """Raise NotFiniteError where a loss or gradient since the beginning was not finite. Waits for the device."""
        if (step := self.meter.bad_step()) is not None:
            raise self._not_finite(step)
        self.unchecked.clear()

    def _not_finite(self, step: int, more: str = "") -> NotFiniteError:
        with suppress(Exception):  # the one that is being written counts too
            self.checkpoints.finish()
        last = f"step {self.checkpoints.steps()[-1]}" if self.checkpoints.steps() else "none"
        return NotFiniteError(
            f"The loss or its gradient is not finite at step {step}{more and ', ' + more} (last checkpoint: {last})"
            f"{self._examples(step)}. A smaller optimizer.learning_rate, a longer schedule.warmup or "
            "trainer.precision=fp32 helps most often; trainer.on_nonfinite=skip passes over single steps."
        )

    def _examples(self, step: int) -> str:
        """Which examples a step was made of, as an addition to a sentence."""
        phase, position = self.unchecked.get(step, (-1, None))
        told = self.feed.examples(position) if phase == self.state.phase else ""
        return told and f"; it was fed {told}"

    def log(self) -> None:
        """A log line."""
        self.refuse_not_finite()
        metrics = self.meter.line()
        metrics["train/memory_gib"] = memory(self.device)
        if (watts := self.power.watts()) is not None:
            metrics["train/power_watts"] = watts
        if self.scale is not None or self.on_nonfinite == "skip":
            metrics["train/skipped_steps"] = self.state.skipped
        metrics |= self.norms.line()
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
        with self.judged():
            metrics, number = self.ranks.from_first(lambda: self._evaluated(stop), stop=stop)
        self.agreement.stop = self.agreement.stop or number
        self.meter.pause(time.perf_counter() - begun)
        if metrics is None:
            return
        state = self.state
        state.evaluation_pending = False
        state.metrics |= metrics
        self.logger.log(state.step, metrics)
        value = metrics.get(self.best_metric)
        sign = -1 if self.higher_is_better else 1
        if value is not None and (state.best is None or sign * value < sign * state.best):
            state.best, state.best_step, state.without_better = value, state.step, 0
        else:
            state.without_better += 1
        if self.is_stale() and not self.budget.done(state):
            self.logger.say(
                f"stopped early at step {state.step:,}: {state.without_better} evaluations were no better than "
                f"{self.best_metric} {state.best} at step {state.best_step} (trainer.patience)"
            )
        has_left = self.left_plateau(metrics) if self.left_plateau else None
        state.plateau = None if has_left is None else not has_left
        if has_left and state.left_plateau_at is None:
            state.left_plateau_at = state.step
            self.logger.say(f"the plateau is left at step {state.step:,}: the model uses context")
        self.summarise("running")

    def _evaluated(self, stop: StopSignals) -> list[Any]:
        """The metrics, None where a signal broke off the evaluation; and the signal."""
        assert self.evaluate is not None
        return [stop.unless_stopped(self.evaluate), stop.requested]

    @contextmanager
    def judged(self) -> Iterator[None]:
        """While entered, the weights are those that are evaluated and exported, whole on every rank."""
        with judged_weights(self.optimizer, self.average), self.strategy.whole():
            yield

    def save(self) -> None:
        """A checkpoint, written while training goes on. Nothing that is not finite is ever saved."""
        self.refuse_not_finite()
        begun = time.perf_counter()
        self.state.seconds = self.seconds()
        self.state.meter = self.meter.saved()
        self.state.metrics_bytes = self.run.metrics_length()
        self.state.loss_scale = self.scale.saved() if self.scale is not None else {}
        averages = self.average.tensors() if self.average is not None else None
        taken = snapshot(self.strategy.trained, self.optimizer, self.state, averages)
        if self.ranks.is_first:
            self.checkpoints.save(taken, first=self.run.sync_metrics)
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
            "stopped_early": self.is_stale() and not self.budget.done(state),
            "skipped_steps": state.skipped,
            "metrics": state.metrics,
            "parameters": sum(p.numel() for p in self.step.parameters()),
            "versions": versions(),
            "error": None,
            **self.about,
        }
        if self.ranks.is_first:
            self.run.write_summary(**values)
        if status == "finished" and state.plateau:
            self.logger.say(
                "the plateau is not left: at masked positions the model is no better than guessing by frequency. "
                "Rotary positions, a larger mask.ratio, a smaller vocabulary or a larger budget leave it"
            )
        if status != "running":
            self.logger.summary({k: v for k, v in values.items() if not isinstance(v, dict)})
