"""The trained whole that a configuration names: a model and its objective."""

from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from ptcli.assembly.parts import part
from ptcli.config.phases import configuration_of, phases_of

if TYPE_CHECKING:
    pass


def make_model(config: DictConfig, vocab_size: int, pair: Any) -> Any:
    """The trained whole: a model and its objective."""
    from ptcli.trainer.step import TrainingStep

    model = part(config, "model", vocab_size=vocab_size)
    return TrainingStep(model, part(config, "objective", model=model, pair=pair))


def check_parts(config: DictConfig, *, vocab_size: int = 8) -> Any:
    """Build every part that needs no text, so that a value out of its range is told before any work is done.

    The trained whole is returned: it lies on the meta device, so that the largest model takes no memory.
    """
    import torch

    for key in ("mask", "eval.mask", "packing", "schedule", "trainer"):
        part(config, key)
    for phase in phases_of(config):
        for key in ("mask", "packing"):
            part(configuration_of(config, phase), key)
    with torch.device("meta"):
        step = make_model(config, vocab_size, part(config, "pair"))
    part(config, "optimizer", module=step)
    return step
