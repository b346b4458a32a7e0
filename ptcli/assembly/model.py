"""The trained whole that a configuration names: a model and its objective."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.phases import configuration_of, phases_of
from ptcli.errors import ConfigError


def make_model(config: DictConfig, vocab_size: int, pair: Any) -> Any:
    """The trained whole: a model and its objective."""
    from ptcli.trainer.step import TrainingStep

    model = part(config, "model", vocab_size=vocab_size)
    objective = part(config, "objective", model=model, pair=pair)
    names = list(config.get("auxiliary") or {})
    if names:
        objective.take({name: part(config, f"auxiliary.{name}", model=model) for name in names})
    return TrainingStep(model, objective)


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
    check_rows(config, step.model)
    return step


def check_rows(config: DictConfig, model: Any) -> None:
    """Raise ConfigError where a row of any phase is longer than the model can take."""
    longest = model.longest_row
    for one in (config, *(configuration_of(config, phase) for phase in phases_of(config))):
        for key in ("max_length", "eval.max_length"):
            length = OmegaConf.select(one, key)
            if longest is not None and length is not None and length > longest:
                raise ConfigError(
                    f"{key}={length}: the model takes rows of at most {longest} tokens. Use {key}={longest}."
                )


def model_shape(config: DictConfig) -> Any:
    """The model of a configuration on the meta device, where it takes no memory: to be asked what rows it takes."""
    import torch

    with torch.device("meta"):
        return part(config, "model", vocab_size=8)
