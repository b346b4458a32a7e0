"""Types of the root keys that commands share; meanings and defaults stand beside the keys in conf/.

A command's own root is in its file, ptcli/command/<name>.py. Fields of type Any are groups: a choice's YAML fills them.
"""

from dataclasses import dataclass, field, fields
from typing import Any

from omegaconf import MISSING

from ptcli.config import choices
from ptcli.config.command import root_of


@dataclass
class RunsFolder:
    """Where run folders lie."""

    dir: str = MISSING


@dataclass
class Run(RunsFolder):
    """Where a run's folder lies."""

    name: str | None = None


@dataclass
class Sweep:
    """What the jobs of one -m share."""

    name: str | None = None


@dataclass
class Root:
    """The keys of conf/command.yaml, which every command has."""

    run: RunsFolder = field(default_factory=RunsFolder)
    sweep: Sweep = field(default_factory=Sweep)
    plugins: list[str] = field(default_factory=list)


@dataclass
class Batch:
    """Rows of an optimiser step."""

    size: int = MISSING
    micro_size: int | None = None
    group_by_length: bool = MISSING


@dataclass
class Budget:
    """How long to train; exactly one is set."""

    steps: int | None = None
    tokens: int | None = None
    epochs: float | None = None
    minutes: float | None = None


BUDGETS = tuple(one.name for one in fields(Budget))


@dataclass
class Kept:
    """How many checkpoints are kept."""

    keep: int = MISSING


@dataclass
class Log:
    """When metrics are written, and which ones that cost something."""

    every: int = MISSING
    norms: bool = MISSING


@dataclass
class TrainingRoot(Root):
    """The keys of conf/training.yaml, which commands that train have."""

    optimizer: Any = MISSING
    schedule: Any = MISSING
    trainer: Any = MISSING
    logger: Any = MISSING
    task: Any = None
    checkpoint: str | None = None
    seed: int = MISSING
    max_length: int = MISSING
    run: Run = field(default_factory=Run)
    batch: Batch = field(default_factory=Batch)
    budget: Budget = field(default_factory=Budget)
    save: Kept = field(default_factory=Kept)
    log: Log = field(default_factory=Log)
    resume: str = MISSING


@dataclass
class Device:
    """Where a finished model runs."""

    device: str = MISSING


@dataclass
class DeviceAndPrecision(Device):
    """Where a finished model runs, and in which number format."""

    precision: str = MISSING


@dataclass
class RowBatch:
    """Rows that go through a finished model at once."""

    size: int = MISSING


def register(name: str) -> None:
    """Make known to Hydra the types of a command, as `<name>_root` for its defaults list, and the user's own folders.

    Those of the command whose YAML it begins with are made known too.
    """
    from hydra.core.config_store import ConfigStore
    from hydra.core.plugins import Plugins

    from ptcli.config.search_path import OwnFolders

    Plugins.instance().register(OwnFolders)
    base = choices.root(name).base()
    begins_with_another = base is not None and root_of(base.name) is not None
    node: Any = root_of(name)
    assert node is not None, "only a command with a configuration is composed"
    ConfigStore.instance().store(
        name=f"{name}_root", node=_types_alone(node) if begins_with_another else node, provider="ptcli"
    )
    if base is not None and begins_with_another:
        register(base.name)


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
