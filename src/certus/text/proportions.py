"""Intervals of a share, from x of n that were counted: exact ones, and Wilson's.

exact:    all q for which neither ≤ x nor ≥ x has a probability below (1 − confidence)/2
Wilson's: all q with |x/n − q| ≤ z √(q(1 − q)/n)
"""

import numpy as np
from scipy.special import betaincinv, ndtri


def clopper_pearson(x: object, n: object, confidence: float) -> np.ndarray:
    """(…, 2). Of dependent rows: both numbers divided by f (Korn & Graubard 1998).

    >>> clopper_pearson(0, 10, 0.95).round(4)
    array([0.    , 0.3085])
    """
    x, tail = np.asarray(x, dtype=float), (1 - confidence) / 2
    low = np.where(x == 0, 0.0, betaincinv(x, n - x + 1, tail))
    high = np.where(x == n, 1.0, betaincinv(x + 1, n - x, 1 - tail))
    return np.stack([low, high], axis=-1)


def wilson(x: object, n: int, confidence: float) -> np.ndarray:
    """(…, 2); Wilson, 1927.

    >>> wilson(0, 10, 0.95).round(4)
    array([0.    , 0.2775])
    """
    x, z2 = np.asarray(x, dtype=float), float(ndtri((1 + confidence) / 2)) ** 2
    f = x / n
    middle = (f + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (f * (1 - f) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = np.where(x == 0, 0.0, middle - half)
    high = np.where(x == n, 1.0, middle + half)
    return np.clip(np.stack([low, high], axis=-1), 0.0, 1.0)
