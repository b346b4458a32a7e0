"""How far a mean over scored positions would move with other documents: the bootstrap."""

import numpy as np


def interval(
    values: np.ndarray,
    weights: np.ndarray,
    documents: np.ndarray,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile interval of sum(values) / sum(weights) when whole documents are drawn anew, with replacement.

    Efron, "Bootstrap methods: another look at the jackknife" (1979), on documents, since the positions of one document
    are alike. All arrays (N,); `documents` are any integers. None where fewer than two documents have weight.
    """
    _, place = np.unique(documents, return_inverse=True)
    sums, counts = (np.bincount(place, weights=array) for array in (values, weights))
    sums, counts = sums[counts > 0], counts[counts > 0]
    number = len(counts)
    if number < 2:
        return None
    generator = np.random.Generator(np.random.Philox(seed))
    means = np.empty(resamples)
    for sample in range(resamples):
        drawn = np.bincount(generator.integers(number, size=number), minlength=number)
        means[sample] = drawn @ sums / (drawn @ counts)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
