"""One run of the trainer: what the loop works with, and what is done at a log line, an evaluation, a checkpoint."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptcli.errors import CheckpointError
from ptcli.logger.logger import Logger
from ptcli.run.folder import RunFolder
from ptcli.trainer.agreement import Agreement
from ptcli.trainer.average import Average
from ptcli.trainer.checkpoint import Checkpoints, snapshot, versions
from ptcli.trainer.feed import Feed
from ptcli.trainer.first_steps import FirstSteps
from ptcli.trainer.gradient import Gradient
from ptcli.trainer.judged import judged_weights
from ptcli.trainer.meter import Meter
from ptcli.trainer.nonfinite import NonFinite
from ptcli.trainer.norms import Norms
from ptcli.trainer.parallel import Single
from ptcli.trainer.precision import LossScale
from ptcli.trainer.profile import Profile
from ptcli.trainer.ranks import Ranks
from ptcli.trainer.signals import StopSignals
from ptcli.trainer.state import TrainingState
from ptcli.trainer.training import Every, Training
from ptcli.trainer.usage import Power, memory

if TYPE_CHECKING:
    from ptcli.trainer.trainer import Trainer


class Fit:
    """One call of `Trainer.fit`; arguments as there. ptcli/trainer/loop.py takes its steps, after `begin`."""

    def __init__(self, trainer: "Trainer", training: Training, run: RunFolder, logger: Logger, every: Every):
        self.training, self.every, self.run, self.logger = training, every, run, logger
        self.device, self.patience = trainer.device, trainer.patience
        self.strategy = training.strategy or Single(training.step, ranks=Ranks())
        self.ranks, self.step = self.strategy.ranks, self.strategy.step
        self.ceiling = trainer.matmul_ceiling()
        self.about = {"device": trainer.describe(), "matmul_teraflops": round(self.ceiling / 1e12, 3)}
        self.checkpoints = Checkpoints(run.checkpoints, keep=every.keep)
        self.scale = LossScale() if trainer.precision.is_scaled else None
        self.average = Average(self.strategy.trained, decay=trainer.average) if trainer.average else None
        self.gradient = Gradient(
            self.strategy,
            compile=trainer.compile,
            device=self.device,
            autocast=trainer.autocast,
            clip=trainer.clip,
            seed=training.seed,
            scale=self.scale,
        )
        self.agreement = Agreement(self.ranks)
        self.feed = Feed(training.phases, say=logger.say)
        self.norms = Norms(training.optimizer, every=every.log if every.norms else None)
        self.nonfinite = NonFinite(
            on_nonfinite=trainer.on_nonfinite,
            scale=self.scale,
            checkpoints=self.checkpoints,
            feed=self.feed,
            say=logger.say,
        )
        is_profiled = trainer.profile and self.ranks.is_first
        self.profile = (
            Profile(run.path / "profile.json.gz", device=self.device, say=logger.say) if is_profiled else None
        )
        self.power = Power(self.device)
        self.first_steps: FirstSteps | None = None
        self.state = TrainingState()
        for group in training.optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])  # what the schedule multiplies

    @property
    def evaluates(self) -> bool:
        """Whether there is anything to evaluate."""
        return self.training.evaluate is not None

    def begin(self) -> None:
        """Load the newest whole checkpoint, where there is one, and say what follows from it."""
        training, identity = self.training, dict(self.training.identity)
        self.state = TrainingState(identity=identity)
        if training.budget.unit != "minutes" and self.ranks.size == 1:  # others do not repeat
            corpus = identity.get("corpus", "")
            self.first_steps = FirstSteps(self.run.path, self.step, device=self.device, corpus=corpus)
        found = self.ranks.from_first(self._newest)
        if found is not None:
            self._go_on(Path(found), identity)
        self.state.budget = training.budget.as_dict()
        if self.ranks.is_first:
            self.run.cut_metrics(self.state.metrics_bytes)
        self.meter = Meter(self.device, self.state.meter, ceiling=self.ceiling * self.ranks.size, ranks=self.ranks)
        self.agreement.seconds = self.state.seconds
        self._seconds_before, self._begun = self.state.seconds, time.perf_counter()
        self.summarise("running")

    def _newest(self) -> str | None:
        newest = self.checkpoints.newest(say=self.logger.say)
        return None if newest is None else str(newest)

    def _go_on(self, checkpoint: Path, identity: dict[str, str]) -> None:
        self.state = self.checkpoints.state(checkpoint)
        saved, budget = self.state.identity, self.training.budget.as_dict()
        changed = sorted(name for name in identity | saved if identity.get(name) != saved.get(name))
        if changed:
            raise CheckpointError(
                f"{self.run.path} was trained with another {' and another '.join(changed)}. "
                "Type run.name=NAME for a new run, or resume=never to begin this one again."
            )
        self.checkpoints.load(checkpoint, self.strategy.trained, self.training.optimizer)
        if self.average is not None:
            self.average.load(self.checkpoints.average(checkpoint))
        if self.scale is not None:
            self.scale.load(self.state.loss_scale)
        self.logger.say(f"going on from step {self.state.step:,}")
        if self.state.budget != budget:
            (was,), (now,) = self.state.budget.items(), budget.items()
            self.logger.say(
                f"the budget was {was[1]:g} {was[0]} and is now {now[1]:g} {now[0]}: "
                "the learning rate follows the new one from here on"
            )

    def clock(self) -> float:
        """Seconds of training so far, over every resume, by this process's clock."""
        return self._seconds_before + time.perf_counter() - self._begun

    def seconds(self) -> float:
        """The same where ranks must agree: by rank 0's clock before the step."""
        return self.clock() if self.ranks.size == 1 else self.agreement.seconds

    def stopped(self, stop: StopSignals) -> int | None:
        """The signal that ends the run; of several ranks, one that all of them know of."""
        return stop.requested if self.ranks.size == 1 else self.agreement.stop

    def is_done(self) -> bool:
        """Whether the budget is spent, or evaluations have long not become better."""
        return self.training.budget.done(self.state) or self.is_stale()

    def is_stale(self) -> bool:
        """Whether as many evaluations as `patience` were no better than the best one."""
        return self.patience is not None and self.state.without_better >= self.patience

    def log(self) -> None:
        """A log line."""
        self.nonfinite.refuse(self.meter, self.state)
        metrics = self.meter.line()
        metrics["train/memory_gib"] = memory(self.device)
        if (watts := self.power.watts()) is not None:
            metrics["train/power_watts"] = watts
        if self.nonfinite.may_skip:
            metrics["train/skipped_steps"] = self.state.skipped
        metrics |= self.norms.line()
        metrics["train/learning_rate"] = self.training.optimizer.param_groups[0]["lr"]
        metrics["train/tokens"] = self.state.tokens
        metrics["train/epoch"] = self.state.epoch
        metrics["train/seconds"] = self.seconds()
        self.state.metrics |= metrics
        self.logger.log(self.state.step, metrics)

    def evaluate(self, stop: StopSignals) -> None:
        """Evaluate, note the best and the plateau. Broken off by a signal, it stays pending."""
        begun = time.perf_counter()
        with self.judged():
            metrics, number = self.ranks.from_first(lambda: self._evaluated(stop), stop=stop)
        self.agreement.stop = self.agreement.stop or number
        self.meter.pause(time.perf_counter() - begun)
        if metrics is None:
            return
        self.state.evaluation_pending = False
        self.state.metrics |= metrics
        self.logger.log(self.state.step, metrics)
        self._note_best(metrics)
        self._note_plateau(metrics)
        self.summarise("running")

    def _evaluated(self, stop: StopSignals) -> list[Any]:
        """The metrics, None where a signal broke off the evaluation; and the signal."""
        assert self.training.evaluate is not None
        return [stop.unless_stopped(self.training.evaluate), stop.requested]

    def _note_best(self, metrics: dict[str, float]) -> None:
        state, name = self.state, self.training.best_metric
        value = None if name is None else metrics.get(name)
        sign = -1 if self.training.higher_is_better else 1
        if value is not None and (state.best is None or sign * value < sign * state.best):
            state.best, state.best_step, state.without_better = value, state.step, 0
        else:
            state.without_better += 1
        if self.is_stale() and not self.training.budget.done(state):
            self.logger.say(
                f"stopped early at step {state.step:,}: {state.without_better} evaluations were no better than "
                f"{name} {state.best} at step {state.best_step} (trainer.patience)"
            )

    def _note_plateau(self, metrics: dict[str, float]) -> None:
        state, judge = self.state, self.training.left_plateau
        has_left = judge(metrics) if judge else None
        state.plateau = None if has_left is None else not has_left
        if has_left and state.left_plateau_at is None:
            state.left_plateau_at = state.step
            self.logger.say(f"the plateau is left at step {state.step:,}: the model uses context")

    @contextmanager
    def judged(self) -> Iterator[None]:
        """While entered, the weights are those that are evaluated and exported, whole on every rank."""
        with judged_weights(self.training.optimizer, self.average), self.strategy.whole():
            yield

    def save(self) -> None:
        """A checkpoint, written while training goes on. Nothing that is not finite is ever saved."""
        self.nonfinite.refuse(self.meter, self.state)
        begun = time.perf_counter()
        self.state.seconds = self.seconds()
        self.state.meter = self.meter.saved()
        self.state.metrics_bytes = self.run.metrics_length()
        self.state.loss_scale = self.scale.saved() if self.scale is not None else {}
        averages = self.average.tensors() if self.average is not None else None
        taken = snapshot(self.strategy.trained, self.training.optimizer, self.state, averages)
        if self.ranks.is_first:
            self.checkpoints.save(taken, first=self.run.sync_metrics)
        self.meter.pause(time.perf_counter() - begun)

    def export(self) -> None:
        """Write the model, on rank 0, with the weights that are judged."""
        if self.training.export is not None:
            with self.judged():
                if self.ranks.is_first:
                    self.training.export()

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
            "best": {"metric": self.training.best_metric, "value": state.best, "step": state.best_step},
            "plateau": state.plateau,
            "left_plateau_at": state.left_plateau_at,
            "stopped_early": self.is_stale() and not self.training.budget.done(state),
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
