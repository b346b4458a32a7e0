"""Probabilities from logits, in float64."""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Over the last axis; of any shape."""
    logits = np.asarray(logits, np.float64)
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Of each for itself, without overflow."""
    logits = np.asarray(logits, np.float64)
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1, small) / (1 + small)
