"""`phases`: parts of a run that have some settings of their own, one after the other, at shares of the budget.

Each phase is a configuration: the run's, with the phase's settings in it. So it passes the same nets as the run does.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.command_line.suggest import did_you_mean, listing
from ptcli.config import choices as conf
from ptcli.config.bind import mismatch, plain_values
from ptcli.errors import ConfigError

TYPES: Mapping[str, Any] = {
    "max_length": int,
    "batch.size": int,
    "batch.micro_size": int | None,
    "mask.ratio": float,
    "packing": str,
    "optimizer.learning_rate": float,
}
"""What a phase may set, and the type of each value."""


@dataclass(frozen=True)
class Phase:
    """What a phase sets, by key, and the share of the budget at which it ends, in (0, 1]."""

    until: float
    settings: dict[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "the run's own settings"


def phases_of(config: DictConfig) -> list[Phase]:
    """The phases of a run; none where it has the same settings throughout. Raises ConfigError with every problem."""
    listed = OmegaConf.select(config, "phases")
    if not listed:
        return []
    plain: Any = OmegaConf.to_container(listed, resolve=True)
    if problems := list(_problems(plain_values(config), plain)):
        raise ConfigError("\n".join(problems))
    return [
        Phase(float(entry.get("until", 1.0)), {key: value for key, value in entry.items() if key != "until"})
        for entry in plain
    ]


def configuration_of(config: DictConfig, phase: Phase) -> DictConfig:
    """The configuration of one phase. What other keys were made from stays as it is in the run's."""
    values = copy.deepcopy(plain_values(config))
    values["phases"] = []
    for key, value in phase.settings.items():
        if key == "packing":
            choice = conf.find("packing", value)
            assert choice is not None, "phases_of has checked it"
            values["packing"] = choice.with_base()
            continue
        *parents, last = key.split(".")
        node = values
        for parent in parents:
            node = node[parent]
        node[last] = value
    return OmegaConf.create(values)


def longest_row(config: DictConfig) -> int:
    """The most tokens that a row of any phase holds."""
    return max([config.max_length, *(phase.settings.get("max_length", 0) for phase in phases_of(config))])


def choices_of(choices: Mapping[str, Any], phase: Phase) -> dict[str, Any]:
    """What is chosen in each group while the phase lasts."""
    return {**choices, **{key: value for key, value in phase.settings.items() if key == "packing"}}


def _problems(values: dict[str, Any], phases: Any) -> Iterator[str]:
    before = 0.0
    for number, entry in enumerate(phases):
        name = f"phases[{number}]"
        if not isinstance(entry, dict):
            yield f"{name}={entry}: a mapping such as {{until: 0.9, max_length: 128}}"
            continue
        is_last = number == len(phases) - 1
        until = entry.get("until", 1.0 if is_last else None)
        if until is None:
            yield f"{name}.until is missing: the share of the budget, above {before:g} and below 1, at which it ends"
        elif isinstance(until, bool) or not isinstance(until, int | float) or not before < until <= 1:
            yield f"{name}.until={until}: a share of the budget, above {before:g} and up to 1"
        elif is_last != (until == 1):
            yield f"{name}.until={until}: the last phase ends with the budget (until: 1, or without it), no other does"
        else:
            before = float(until)
        for key, value in entry.items():
            if key != "until" and (problem := _problem(values, str(key), value)):
                yield f"{name}: {problem}"


def _problem(values: dict[str, Any], key: str, value: Any) -> str:
    if key not in TYPES:
        return f"a phase sets no {key}.{did_you_mean(key, list(TYPES))} It may set until, {listing(TYPES)}"
    if isinstance(value, dict | list) or (wanted := mismatch(value, TYPES[key])):
        return f"{key}={value}: takes {'one value' if isinstance(value, dict | list) else wanted}"
    if key == "packing":
        return "" if conf.find("packing", value) else f"packing={value}: one of {listing(_names('packing'))}"
    if key == "mask.ratio" and (values.get("mask") or {}).get("later_ratios"):
        return "mask.ratio: mask.later_ratios changes it already. Give one of the two"
    node: Any = values
    for segment in key.split("."):
        if not isinstance(node, dict) or segment not in node:
            return f"{key}: what this run has for {key.split('.')[0]} takes no {segment}"
        node = node[segment]
    if key == "optimizer.learning_rate" and node is None:
        return "optimizer.learning_rate: this run's optimizer has none that could change"
    return ""


def _names(group: str) -> list[str]:
    return [choice.name for choice in conf.choices(group)]
