"""`scale`: a recipe at a smaller budget, written out before the run has a name, so that config.yaml is plain."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.config.root import BUDGETS
from ptcli.errors import ConfigError

_WHOLE = ("budget.steps", "budget.tokens")
# Lengths that count optimiser steps from 1 on; below 1 they are shares of the budget, which shrink with it.
_LENGTHS = ("schedule.warmup", "schedule.decay", "mask.schedule_steps")


def apply_scale(config: DictConfig, choices: Mapping[str, Any], typed: Iterable[str]) -> str:
    """Multiply the recipe's budget, and lengths that count steps, by `scale`, in place; a line that says so.

    Counts are rounded and stay at least 1. Batch, row length and learning rate stay; shares of the budget (a warm-up of
    0.06, phases) follow it. What is `typed` (overrides) stays as it is. `scale` itself becomes 1: it is in force.
    Empty where there is nothing to do. Raises ConfigError for a scale that could change nothing.
    """
    scale = OmegaConf.select(config, "scale")
    if scale is None or scale == 1:
        return ""
    keys = {word.split("=", 1)[0].lstrip("+~") for word in typed}
    _refuse(scale, str(choices.get("recipe") or "none"), keys)
    told = []
    for key in (*(f"budget.{name}" for name in BUDGETS), *_LENGTHS):
        value = OmegaConf.select(config, key)
        if not isinstance(value, int | float) or key in keys or (key in _LENGTHS and value < 1):
            continue
        counts = key in _WHOLE or key in _LENGTHS
        scaled = max(1, round(value * scale)) if counts else value * scale
        if scaled != value:
            OmegaConf.update(config, key, type(value)(scaled))
            told.append(f"{key} {value:,.10g} -> {scaled:,.10g}")
    if not told:
        raise ConfigError(f"scale={scale:g} changes nothing here: every count rounds to what it was. Leave it out")
    config.scale = 1.0
    return f"scale={scale:g}: {', '.join(told)}; batch, row length and learning rate stay"


def _refuse(scale: float, recipe: str, typed: Iterable[str]) -> None:
    if not 0 < scale < math.inf:
        raise ConfigError(f"scale={scale:g}: a factor above 0, such as 0.01 for a hundredth of a recipe's budget")
    if recipe == "none":
        raise ConfigError(
            f"scale={scale:g} shrinks the budget of a recipe, but recipe=none. "
            "Choose one (ptcli options recipe), or write the budget that you want: budget.steps=1000"
        )
    budget = next((key for key in typed if key.startswith("budget.")), None)
    if budget:
        raise ConfigError(f"scale={scale:g} shrinks the recipe's budget, but {budget} replaces it. Give one of the two")
