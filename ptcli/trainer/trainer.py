from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress

import torch
from torch import nn

from ptcli.errors import CheckpointError, ConfigError
from ptcli.files import is_disk_full
from ptcli.logger.logger import Logger
from ptcli.run.folder import RunFolder
from ptcli.trainer.device import choose_device, count_devices
from ptcli.trainer.fit import Fit
from ptcli.trainer.loop import train
from ptcli.trainer.parallel import Replicated, Sharded, Single, choose_strategy, recompute_activations
from ptcli.trainer.precision import choose_precision
from ptcli.trainer.ranks import current
from ptcli.trainer.seeds import make_deterministic
from ptcli.trainer.signals import Interrupted, StopSignals
from ptcli.trainer.state import TrainingState
from ptcli.trainer.training import Every, Training
from ptcli.trainer.usage import matmul_ceiling


class Trainer:
    """Trains on one device or several: accumulates, clips, steps, logs, evaluates, saves; goes on where it stopped.

    Args:
        device: auto, cpu or cuda.
        devices: how many train together, or auto: all GPUs of this host. A number that torchrun or srun started holds.
        strategy: auto, single, ddp or fsdp: how training is spread over devices.
        activation_checkpointing: whether layers are computed again in the backward pass, to keep less in memory.
        precision: auto, fp32, tf32 (NVIDIA GPUs), bf16 and fp16 (autocast; weights stay float32), or bf16_pure.
        clip: longest 2-norm of the gradient; None or 0: never scaled down.
        accumulate: micro-batches an optimiser step on each device; None: what the micro-batch's size makes.
        compile: whether to use torch.compile.
        threads: of the CPU; None: torch decides.
        deterministic: whether operations are refused whose result depends on timing.
        on_nonfinite: what follows when a gradient is not finite: stop, or skip the step.
        patience: evaluations without a better one, after which the run ends; None: the budget alone ends it.
        average: decay of a moving average of the weights, in (0, 1), that is evaluated and exported; None: no average.
        profile: whether torch's profiler records a few steps.
    """

    def __init__(
        self,
        *,
        device: str = "auto",
        devices: int | str = 1,
        strategy: str = "auto",
        activation_checkpointing: bool = False,
        precision: str = "auto",
        clip: float | None = 1.0,
        accumulate: int | None = None,
        compile: bool = False,
        threads: int | None = None,
        deterministic: bool = False,
        on_nonfinite: str = "stop",
        patience: int | None = None,
        average: float | None = None,
        profile: bool = False,
    ):
        if clip is not None and not 0 <= clip < float("inf"):
            raise ConfigError(f"trainer.clip={clip}: a length above 0, or null for none.")
        if accumulate is not None and accumulate < 1:
            raise ConfigError(f"trainer.accumulate={accumulate}: 1 micro-batch or more.")
        if threads is not None and threads < 1:
            raise ConfigError(f"trainer.threads={threads}: 1 or more, or null.")
        if on_nonfinite not in ("stop", "skip"):
            raise ConfigError(f"trainer.on_nonfinite={on_nonfinite}: choose stop or skip.")
        if patience is not None and patience < 1:
            raise ConfigError(f"trainer.patience={patience}: 1 evaluation or more, or null.")
        if average is not None and not 0 < average < 1:
            raise ConfigError(f"trainer.average={average}: a decay above 0 and below 1, such as 0.999, or null.")
        self.device, self.ranks = choose_device(device), current()
        self.devices = count_devices(devices, self.device, started=self.ranks.size)
        self.strategy = choose_strategy(strategy, devices=self.devices)
        self.activation_checkpointing = activation_checkpointing
        self.precision = choose_precision(precision, self.device)
        self.precision.begin()
        self.on_nonfinite, self.patience, self.average, self.profile = on_nonfinite, patience, average, profile
        self.clip, self.accumulate, self.compile = clip or None, accumulate, compile
        if threads is not None:
            torch.set_num_threads(threads)
        if deterministic:
            make_deterministic()

    def describe(self) -> str:
        """One line: the device, the threads, the precision and why."""
        where = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "CPU"
        where = where if self.devices == 1 else f"{self.devices} x {where} ({self.strategy})"
        return f"{where}, {torch.get_num_threads()} threads, {self.precision.text}"

    def autocast(self) -> AbstractContextManager:
        """The context that forward passes run in, in training and in evaluation."""
        return self.precision.autocast()

    def matmul_ceiling(self) -> float:
        """Floating-point operations a second of the best matrix product in this precision, measured once a process."""
        kind, threads = self.precision.compute_type, torch.get_num_threads()
        return matmul_ceiling(self.device, kind, threads, is_tf32=self.precision.is_tf32)

    def place(self, module: nn.Module) -> None:
        """Move a module to the device, its weights in the precision's format."""
        module.to(self.device, self.precision.weights_type)

    def distribute(self, step: nn.Module, *, layers: Sequence[nn.Module]) -> Single:
        """Spread a step over the ranks, before its optimizer is made: for the parameters of what is then `trained`.

        `layers`: of its model, in the order in which they run. Every rank must call it.
        """
        assert self.ranks.size == self.devices, "the ranks are started before"
        if self.activation_checkpointing:
            recompute_activations(layers)
        if self.strategy == "fsdp":
            compute_type = None if self.precision.is_scaled else self.precision.autocast_type
            return Sharded(step, ranks=self.ranks, layers=layers, compute_type=compute_type)
        return (Replicated if self.strategy == "ddp" else Single)(step, ranks=self.ranks)

    def micro_size(self, batch_size: int, micro_size: int | None) -> int:
        """Rows that go through the model of each device at once. Raise ConfigError where the settings disagree."""
        if batch_size % self.devices:
            raise ConfigError(
                f"batch.size={batch_size} rows cannot be divided among {self.devices} devices. "
                f"Use batch.size={max(batch_size // self.devices, 1) * self.devices}, or another trainer.devices."
            )
        return self.group_size(batch_size // self.devices, micro_size)

    def group_size(self, batch_size: int, micro_size: int | None) -> int:
        """Rows of a micro-batch on one device, from batch.micro_size or trainer.accumulate.

        Where rows are grouped by length, it is the size of groups on any number of devices.
        """
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
        self, training: Training, run: RunFolder, logger: Logger, *, every: Every, leave_after: int | None = None
    ) -> TrainingState:
        """Train until the budget is spent; go on from a checkpoint where there is one.

        `run` is locked and begun, `logger` started. `leave_after`: a step after which to return, with nothing saved or
        exported. Of several ranks only rank 0 writes, evaluates and exports.

        Raise Interrupted after Ctrl-C or SIGTERM, with a checkpoint made; NotFiniteError; CheckpointError where
        checkpoints cannot be read, do not fit, or the disk is full.
        """
        if self.patience is not None and (training.evaluate is None or every.evaluate <= 0):
            raise ConfigError(
                f"trainer.patience={self.patience} counts evaluations, but there are none on the way. "
                "Use eval.every above 0 and eval.fraction above 0, or trainer.patience=null."
            )
        training.schedule.check(total_steps=training.budget.total_steps)
        fit = Fit(self, training, run, logger, every)
        with StopSignals() as stop:
            fit.begin()
            try:
                train(fit, stop, leave_after=leave_after)
                if fit.state.step == leave_after:
                    return fit.state
                is_finished = fit.is_done() and not fit.state.evaluation_pending
                fit.export()
                fit.summarise("finished" if is_finished else "interrupted")
            except BaseException as error:
                if fit.ranks.is_first:
                    _note_failure(run, error, step=fit.state.step)
                if isinstance(error, OSError) and is_disk_full(error):
                    raise CheckpointError(
                        f"The disk is full ({error}). Checkpoints in {run.checkpoints} are whole. "
                        f"Make room and go on with: {training.resume_command}"
                    ) from error
                raise
        if (number := fit.stopped(stop)) is not None:
            text = "Finished" if is_finished else "Stopped"
            raise Interrupted(
                f"{text} at step {fit.state.step}, which is saved in {run.path}."
                + ("" if is_finished else f" Go on with: {training.resume_command}"),
                exit_code=128 + number,
            )
        return fit.state


def _note_failure(run: RunFolder, error: BaseException, *, step: int) -> None:
    is_interrupt = isinstance(error, KeyboardInterrupt)
    reason = None if is_interrupt else f"{type(error).__name__}: {error}"
    with suppress(OSError):  # the first error is the one to be told
        run.write_summary(status="interrupted" if is_interrupt else "failed", step=step, error=reason)
