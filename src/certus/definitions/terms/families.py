"""Families of targets whose mean is the exponential of a score.

Their losses have one form, c(eᵗ − 1 − t) with t = log μ − log c, and μ where c = 0.
"""

from typing import NamedTuple

import numpy as np


class PoissonCounts(NamedTuple):
    """Counts y ≥ 0: c = y, and log μ = o + z is that of the mean."""

    sign: float = 1.0

    def terms(self, y, o):  # c, and log μ at z = 0
        return np.where(y >= 0, y, np.nan), o


class GammaAmounts(NamedTuple):
    """Amounts y > 0: c = 1, and log μ = log y − o − z is that of y divided by its mean."""

    sign: float = -1.0

    def terms(self, y, o):
        return np.ones(len(y)), np.log(np.where(y > 0, y, np.nan)) - o
