"""Where a finished model runs."""

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.trainer.trainer import Trainer


def machine(config: DictConfig) -> Trainer:
    """Where a finished model runs, and in which number format."""
    node = {"trainer": {"_target_": "ptcli.trainer.trainer.Trainer", **config.trainer}}
    return part(OmegaConf.create(node), "trainer")
