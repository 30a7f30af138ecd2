"""Probabilities of all classes, where a training set lacks some."""

import numpy as np


def among_all(P: np.ndarray, present: np.ndarray, K: int) -> np.ndarray:
    """Probabilities (n, classes present) among all K; a class without a training row has 0."""
    found = np.zeros((len(P), K))
    found[:, np.asarray(present, dtype=np.intp)] = P
    return found
