"""The ranges of what optimizers have in common. Each function raises ConfigError for a value outside."""

from collections.abc import Sequence
from math import inf

from ptcli.errors import ConfigError


def check_learning_rate(value: float, *, key: str = "learning_rate") -> None:
    """Above 0 and finite."""
    if not 0 < value < inf:
        raise ConfigError(f"optimizer.{key}={value}: it must be above 0, such as 1e-4.")


def check_betas(values: Sequence[float]) -> tuple[float, float]:
    """Two numbers in [0, 1); as a tuple."""
    if len(values) != 2 or not all(0 <= beta < 1 for beta in values):
        raise ConfigError(f"optimizer.betas={list(values)}: two numbers in [0, 1), such as [0.9,0.999].")
    return values[0], values[1]


def check_eps(value: float, *, key: str = "eps") -> None:
    """In (0, 1)."""
    if not 0 < value < 1:
        raise ConfigError(f"optimizer.{key}={value}: a small number above 0, such as 1e-6.")


def check_weight_decay(value: float) -> None:
    """At least 0 and finite."""
    if not 0 <= value < inf:
        raise ConfigError(f"optimizer.weight_decay={value}: it must be 0 or more, such as 0.01.")
