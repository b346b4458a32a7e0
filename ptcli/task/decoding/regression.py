"""Predictions of a number a row."""

from typing import Any

import numpy as np


def decode(values: np.ndarray) -> list[dict[str, Any]]:
    """`value` of each, (N,) or (N, 1), as it is: no number is cut to a range."""
    return [{"value": value} for value in np.asarray(values, np.float64).reshape(-1).tolist()]
