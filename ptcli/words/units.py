"""Named units and the words around them."""

import numpy as np

NO_UNITS = np.zeros((0, 3), np.int32)


def cut_at_units(spans: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The words `spans`, (n, 2), cut where a unit of `units`, (m, 3), begins or ends inside one: int32 (k, 2)."""
    borders = np.unique(units[:, :2])
    word = np.searchsorted(spans[:, 1], borders, side="right")  # the first that ends after the border
    inside = word < len(spans)
    inside[inside] = spans[word[inside], 0] < borders[inside]
    starts = np.sort(np.concatenate((spans[:, 0], borders[inside])))
    ends = np.sort(np.concatenate((spans[:, 1], borders[inside])))
    return np.stack((starts, ends), axis=1).astype(np.int32)
