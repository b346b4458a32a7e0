"""The phases of a run, each with what feeds it."""

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.data import Data, training_loader
from ptcli.assembly.masking import make_mask
from ptcli.assembly.parts import part
from ptcli.config.phases import Phase as Settings
from ptcli.config.phases import configuration_of, phases_of
from ptcli.trainer.feed import Phase

if TYPE_CHECKING:
    from ptcli.batch.loader import Loader
    from ptcli.trainer.trainer import Trainer


def make_phases(config: DictConfig, data: Data, *, trainer: "Trainer", model: Any) -> list[Phase]:
    """What the trainer is given: one phase where nothing changes in the course of the run."""
    settings = phases_of(config) or [Settings(1.0, {})]
    return [_phase(config, data, one, trainer=trainer, model=model) for one in settings]


def check_batches(config: DictConfig, trainer: "Trainer") -> None:
    """Raise ConfigError where the batch of a phase cannot be cut into micro-batches."""
    for phase in phases_of(config):
        own = configuration_of(config, phase)
        trainer.micro_size(own.batch.size, own.batch.micro_size)


def first_length(config: DictConfig) -> int:
    """Tokens in a row of the first phase."""
    return next((phase.settings.get("max_length", config.max_length) for phase in phases_of(config)), config.max_length)


def lines_of(config: DictConfig) -> list[str]:
    """What is told of the phases before the run begins; nothing where there are none."""
    phases = phases_of(config)
    if not phases:
        return []
    ends = [f"{phase.until:.10g} of the budget" for phase in phases[:-1]] + ["the end"]
    return [
        f"phase {number} of {len(phases)}, until {end}: {phase}"
        for number, (phase, end) in enumerate(zip(phases, ends, strict=True), 1)
    ]


def _phase(
    config: DictConfig,
    data: Data,
    settings: Settings,
    *,
    trainer: "Trainer",
    model: Any,
) -> Phase:
    own = configuration_of(config, settings) if settings.settings else config
    micro_size = trainer.micro_size(own.batch.size, own.batch.micro_size)
    group_size = trainer.group_size(own.batch.size, own.batch.micro_size)

    def loader() -> "Loader":
        fed = data
        if settings.settings:
            mask = make_mask(own, "mask", store=data.store, vocabulary=data.vocabulary, learnt=data.learnt)
            fed = dataclasses.replace(data, packing=part(own, "packing"), mask=mask)
        return training_loader(
            own,
            fed,
            model=model,
            micro_size=micro_size,
            static_length=trainer.device.type == "cuda",
            group_size=group_size,
            rank=trainer.ranks.rank,
            ranks=trainer.ranks.size,
        )

    return Phase(
        loader=loader,
        until=settings.until,
        rows=_rows(own, group_size),
        rate=_learning_rate(own) / _learning_rate(config),
        operations=3 * model.flops_per_token(own.max_length),
        text=str(settings),
    )


def _rows(config: DictConfig, group_size: int) -> str:
    """What decides which rows there are and in which order they are visited."""
    packing: Any = OmegaConf.to_container(config.packing, resolve=True)
    grouped = group_size if config.batch.group_by_length else None
    return json.dumps([config.max_length, packing, grouped], sort_keys=True)


def _learning_rate(config: DictConfig) -> float:
    """Only quotients of it are asked for: where an optimizer has none, no phase can set it."""
    return OmegaConf.select(config, "optimizer.learning_rate", default=None) or 1.0
