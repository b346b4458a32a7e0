"""The root keys of every command and their types; meanings and defaults stand beside the keys in conf/<command>.yaml.

Fields of type Any are the groups: a choice's YAML fills them.
"""

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING


@dataclass
class Run:
    """Where a run's folder lies."""

    name: str | None = None
    dir: str = MISSING


@dataclass
class Batch:
    """Rows of an optimiser step."""

    size: int = MISSING
    micro_size: int | None = None
    group_by_length: bool = MISSING


@dataclass
class Prepare:
    """How a corpus is tokenised."""

    workers: int = MISSING
    shard: str | None = None


@dataclass
class Budget:
    """How long to train; exactly one is set."""

    steps: int | None = None
    tokens: int | None = None
    epochs: float | None = None
    minutes: float | None = None


@dataclass
class Evaluation:
    """When, on what and under which mask the model is evaluated while it trains."""

    every: float = MISSING
    fraction: float = MISSING
    max_length: int = MISSING
    tokens: int = MISSING
    mask: Any = MISSING


@dataclass
class Save:
    """When checkpoints are made and how many are kept."""

    every: float = MISSING
    keep: int = MISSING


@dataclass
class Log:
    """When metrics are written, and which ones that cost something."""

    every: int = MISSING
    norms: bool = MISSING


@dataclass
class Sweep:
    """What the jobs of one -m share."""

    name: str | None = None


@dataclass
class FineTuning:
    """How the finished model of a pretraining is fine-tuned."""

    epochs: float = MISSING
    batch_size: int = MISSING
    learning_rate: float = MISSING
    max_length: int | None = None


@dataclass
class PretrainRoot:
    """Root of pretrain."""

    corpus: Any = MISSING
    words: Any = MISSING
    tokenizer: Any = MISSING
    pair: Any = MISSING
    packing: Any = MISSING
    mask: Any = MISSING
    objective: Any = MISSING
    auxiliary: Any = MISSING
    optimizer: Any = MISSING
    schedule: Any = MISSING
    trainer: Any = MISSING
    logger: Any = MISSING
    task: Any = None
    model: Any = MISSING
    finetune: FineTuning = field(default_factory=FineTuning)
    seed: int = MISSING
    max_length: int = MISSING
    scale: float = MISSING
    run: Run = field(default_factory=Run)
    batch: Batch = field(default_factory=Batch)
    prepare: Prepare = field(default_factory=Prepare)
    budget: Budget = field(default_factory=Budget)
    phases: list[Any] = field(default_factory=list)
    eval: Evaluation = field(default_factory=Evaluation)
    save: Save = field(default_factory=Save)
    log: Log = field(default_factory=Log)
    checkpoint: str | None = None
    resize_vocabulary: bool = MISSING
    resume: str = MISSING
    plugins: list[str] = field(default_factory=list)
    sweep: Sweep = field(default_factory=Sweep)


@dataclass
class TaskEvaluation:
    """When a task's validation rows are answered while a model is fine-tuned."""

    every: float | None = None
    batch_size: int = MISSING


@dataclass
class Kept:
    """How many checkpoints are kept."""

    keep: int = MISSING


@dataclass
class FinetuneRoot:
    """Root of finetune."""

    task: Any = None
    optimizer: Any = MISSING
    schedule: Any = MISSING
    trainer: Any = MISSING
    logger: Any = MISSING
    checkpoint: str | None = None
    random_weights: bool = MISSING
    folds: int | None = None
    seed: int = MISSING
    max_length: int = MISSING
    run: Run = field(default_factory=Run)
    batch: Batch = field(default_factory=Batch)
    budget: Budget = field(default_factory=Budget)
    eval: TaskEvaluation = field(default_factory=TaskEvaluation)
    save: Kept = field(default_factory=Kept)
    log: Log = field(default_factory=Log)
    resume: str = MISSING
    plugins: list[str] = field(default_factory=list)
    sweep: Sweep = field(default_factory=Sweep)


@dataclass
class RowBatch:
    """Rows that go through the model at once."""

    size: int = MISSING


@dataclass
class HeldOut:
    """On what and under which mask a finished model is evaluated."""

    max_length: int = MISSING
    tokens: int | None = None
    mask: Any = MISSING


@dataclass
class Machine:
    """Where a finished model runs."""

    device: str = MISSING


@dataclass
class MachineAndPrecision(Machine):
    """Where a finished model runs, and in which number format."""

    precision: str = MISSING


@dataclass
class RunsFolder:
    """Where run folders lie."""

    dir: str = MISSING


@dataclass
class TaskText:
    """Other rows for the task of a fine-tuned model."""

    path: str | None = None
    split: str = MISSING


@dataclass
class EvaluateRoot:
    """Root of evaluate."""

    corpus: Any = MISSING
    task: TaskText = field(default_factory=TaskText)
    errors: str | None = None
    page: str | None = None
    checkpoint: str | None = None
    seed: int = MISSING
    batch: RowBatch = field(default_factory=RowBatch)
    eval: HeldOut = field(default_factory=HeldOut)
    trainer: MachineAndPrecision = field(default_factory=MachineAndPrecision)
    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class PredictRoot:
    """Root of predict."""

    checkpoint: Any = None  # one, or a list
    input: str | None = None
    output: str | None = None
    format: str = MISSING
    chunk: int = MISSING
    batch: RowBatch = field(default_factory=RowBatch)
    trainer: MachineAndPrecision = field(default_factory=MachineAndPrecision)
    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class FillRoot:
    """Root of fill."""

    checkpoint: str | None = None
    text: str | None = None
    top: int = MISSING
    trainer: Machine = field(default_factory=Machine)
    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class ExportRoot:
    """Root of export."""

    checkpoint: str | None = None
    format: str = MISSING
    output: str | None = None
    head: bool = MISSING
    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class ReproduceRoot:
    """Root of reproduce."""

    checkpoint: str | None = None
    steps: int = MISSING
    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class PrepareRoot(PretrainRoot):
    """Root of prepare: what pretrain takes, and how it tells what it made."""

    format: str = MISSING


@dataclass
class CheckRoot(PretrainRoot):
    """Root of check: what pretrain takes, and whether a few steps are trained."""

    measure: bool = MISSING


@dataclass
class ViewRoot(PretrainRoot):
    """Root of view: what pretrain takes, and what is shown of it."""

    show: int = MISSING
    examples: int = MISSING
    compare: list[str] = field(default_factory=list)
    format: str = MISSING
    output: str | None = None


ROOTS = {
    "pretrain": PretrainRoot,
    "prepare": PrepareRoot,
    "check": CheckRoot,
    "finetune": FinetuneRoot,
    "predict": PredictRoot,
    "evaluate": EvaluateRoot,
    "fill": FillRoot,
    "export": ExportRoot,
    "reproduce": ReproduceRoot,
    "view": ViewRoot,
}


def register() -> None:
    """Make the types known to Hydra as `<root>_root`, an entry of each root's defaults list."""
    from hydra.core.config_store import ConfigStore

    for name, node in ROOTS.items():
        begins_with_another = node.__bases__ != (object,)
        typed = _types_alone(node) if begins_with_another else node
        ConfigStore.instance().store(name=f"{name}_root", node=typed, provider="ptcli")


def _types_alone(node: type) -> Any:
    """A root's types without its defaults: it is merged over the root that it begins with, whose values stay."""
    from omegaconf import DictConfig, OmegaConf

    def forget(config: DictConfig) -> None:
        for key in config:
            inner = config._get_node(key)
            if isinstance(inner, DictConfig) and not OmegaConf.is_missing(config, key):
                forget(inner)
            else:
                config[key] = MISSING

    config = OmegaConf.structured(node)
    forget(config)
    return config
