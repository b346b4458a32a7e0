from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import torch
from torch import nn

from ptcli.errors import CheckpointError, ConfigError
from ptcli.logger.logger import Logger
from ptcli.trainer.budget import Budget, check_every
from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.device import autocast, choose_device, choose_precision
from ptcli.trainer.files import is_disk_full
from ptcli.trainer.fit import Fit, Loader, Schedule
from ptcli.trainer.folder import RunFolder
from ptcli.trainer.seeds import make_deterministic
from ptcli.trainer.signals import Interrupted, StopSignals
from ptcli.trainer.state import TrainingState


class Trainer:
    """Trains on one device: accumulates, clips, steps, logs, evaluates, saves, and goes on where it was stopped.

    Args:
        device: auto, cpu or cuda.
        precision: auto, fp32 or bf16 (autocast; weights stay float32).
        clip: longest 2-norm of the gradient; None or 0: never scaled down.
        accumulate: micro-batches an optimiser step; None: what the micro-batch's size makes.
        compile: whether to use torch.compile.
        threads: of the CPU; None: torch decides.
        deterministic: whether operations are refused whose result depends on timing.
    """

    def __init__(
        self,
        *,
        device: str = "auto",
        precision: str = "auto",
        clip: float | None = 1.0,
        accumulate: int | None = None,
        compile: bool = False,
        threads: int | None = None,
        deterministic: bool = False,
    ):
        if clip is not None and not 0 <= clip < float("inf"):
            raise ConfigError(f"trainer.clip={clip}: a length above 0, or null for none.")
        if accumulate is not None and accumulate < 1:
            raise ConfigError(f"trainer.accumulate={accumulate}: 1 micro-batch or more.")
        if threads is not None and threads < 1:
            raise ConfigError(f"trainer.threads={threads}: 1 or more, or null.")
        self.device = choose_device(device)
        self.is_bf16, self._precision = choose_precision(precision, self.device)
        self.clip, self.accumulate, self.compile = clip or None, accumulate, compile
        if threads is not None:
            torch.set_num_threads(threads)
        if deterministic:
            make_deterministic()

    def describe(self) -> str:
        """One line: the device, the threads, the precision and why."""
        where = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "CPU"
        return f"{where}, {torch.get_num_threads()} threads, {self._precision}"

    def autocast(self) -> AbstractContextManager:
        """The context that forward passes run in, in training and in evaluation."""
        return autocast(self.device, is_bf16=self.is_bf16)

    def micro_size(self, batch_size: int, micro_size: int | None) -> int:
        """Rows of a micro-batch, from batch.micro_size or trainer.accumulate. Raise ConfigError where they disagree."""
        if batch_size < 1 or (micro_size is not None and micro_size < 1):
            raise ConfigError(f"batch.size={batch_size}, batch.micro_size={micro_size}: 1 row or more.")
        if self.accumulate is None:
            return min(micro_size or batch_size, batch_size)
        if self.accumulate > batch_size:
            raise ConfigError(f"trainer.accumulate={self.accumulate} is more than batch.size={batch_size} rows.")
        rows = -(-batch_size // self.accumulate)
        if -(-batch_size // rows) != self.accumulate:
            raise ConfigError(
                f"trainer.accumulate={self.accumulate}: batch.size={batch_size} cannot be cut into that many equal "
                f"micro-batches; {rows} rows each make {-(-batch_size // rows)}. Choose one that divides batch.size."
            )
        if micro_size is not None and micro_size != rows:
            raise ConfigError(
                f"batch.micro_size={micro_size} and trainer.accumulate={self.accumulate} disagree: batch.size="
                f"{batch_size} in {self.accumulate} micro-batches makes {rows} rows each. Give one of the two."
            )
        return rows

    def fit(
        self,
        *,
        step: nn.Module,
        optimizer: torch.optim.Optimizer,
        schedule: Schedule,
        loader: Loader,
        budget: Budget,
        run: RunFolder,
        logger: Logger,
        seed: int,
        evaluate: Callable[[], dict[str, float]] | None = None,
        left_plateau: Callable[[dict[str, float]], bool | None] | None = None,
        export: Callable[[], None] | None = None,
        best_metric: str = "eval/masked_lm_loss",
        log_every: float = 10,
        eval_every: float = 0.1,
        save_every: float = 0.1,
        keep: int = 2,
        identity: dict[str, str] | None = None,
        resume_command: str = "the same command",
    ) -> TrainingState:
        """Train `step` (a TrainingStep on this trainer's device) until the budget is spent; go on from a checkpoint.

        `run` is locked and begun, `logger` started. `evaluate` gives metrics and changes nothing; `left_plateau` judges
        them; `best_metric` is lowest at its best; `export` writes the model, at the end and when interrupted.
        `identity` are hashes by name of what must be the same at a resume ("data", "config"). `*_every`: steps, or
        below 1 a share of the budget, or 0 for the end only.

        Raise Interrupted after Ctrl-C or SIGTERM, with a checkpoint made; NotFiniteError; CheckpointError where
        checkpoints cannot be read, do not fit, or the disk is full.
        """
        for name, every in (("log.every", log_every), ("eval.every", eval_every), ("save.every", save_every)):
            check_every(name, every)
        schedule.check(total_steps=budget.total_steps)
        checkpoints = Checkpoints(run.checkpoints, keep=keep)
        fit = Fit(
            step=step,
            optimizer=optimizer,
            schedule=schedule,
            budget=budget,
            run=run,
            logger=logger,
            seed=seed,
            checkpoints=checkpoints,
            device=self.device,
            autocast=self.autocast,
            clip=self.clip,
            compile=self.compile,
            evaluate=evaluate,
            left_plateau=left_plateau,
            best_metric=best_metric,
            about={"device": self.describe()},
        )
        with StopSignals() as stop:
            fit.begin(identity or {})
            try:
                fit.train(loader, stop, log_every=log_every, eval_every=eval_every, save_every=save_every)
                is_finished = budget.done(fit.state) and not fit.state.evaluation_pending
                if export is not None:
                    export()
                fit.summarise("finished" if is_finished else "interrupted")
            except BaseException as error:
                _note_failure(run, error, step=fit.state.step)
                if isinstance(error, OSError) and is_disk_full(error):
                    raise CheckpointError(
                        f"The disk is full ({error}). Checkpoints in {run.checkpoints} are whole. "
                        f"Make room and go on with: {resume_command}"
                    ) from error
                raise
        if stop.requested is not None:
            text = "Finished" if is_finished else "Stopped"
            raise Interrupted(
                f"{text} at step {fit.state.step}, which is saved in {run.path}."
                + ("" if is_finished else f" Go on with: {resume_command}"),
                exit_code=stop.exit_code,
            )
        return fit.state


def _note_failure(run: RunFolder, error: BaseException, *, step: int) -> None:
    is_interrupt = isinstance(error, KeyboardInterrupt)
    reason = None if is_interrupt else f"{type(error).__name__}: {error}"
    with suppress(OSError):  # the first error is the one to be told
        run.write_summary(status="interrupted" if is_interrupt else "failed", step=step, error=reason)
