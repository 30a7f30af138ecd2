"""Mean losses over rows, their standard errors and intervals.

    E   = (1/G) Σ_g E_g,    E_g = Σ_{i ∈ g} s_i l_i / S_g,    S_g = Σ_{i ∈ g} s_i
    se² = (f/G²) Σ_g n_g/(n_g − 1) Σ_{i ∈ g} s_i²(l_i − E_g)² / S_g²

with one group of all rows, or a group for each class (balanced error). f is 1 for independent
losses. The losses of rows left out one at a time are correlated, since such rows share neighbours:
there f is larger.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm, t

from ..text.proportions import clopper_pearson

# Variance of the mean loss over that of independent losses, in 150 to 300 samples of 200 rows each,
# 1 to 8 columns, labels with noise, two normal classes and a regression, k = 1 to 25
LOO_VARIANCE_FACTOR = 2.0  # 0.8 to 2.4; most for k = 1 to 5
BOOTSTRAP_VARIANCE_FACTOR = 2.5  # 1.1 to 2.7


class AverageLoss(NamedTuple):
    """Mean loss with its standard error and interval, for each k."""

    error: np.ndarray
    standard_error: np.ndarray
    intervals: np.ndarray  # (len(ks), 2)


class RowAverage:
    """Accumulates losses block by block; results depend on the blocks and their order only."""

    def __init__(self, groups: int, columns: int):
        self.number = np.zeros(groups)
        self.s, self.ss = np.zeros(groups), np.zeros(groups)  # Σs, Σs²
        self.sl, self.ssl, self.ssll = (np.zeros((groups, columns)) for _ in range(3))

    def add(self, losses: np.ndarray, s: np.ndarray, group: np.ndarray) -> None:
        """Add rows with losses (m, columns), weights and groups."""
        for g in np.unique(group):
            in_group = group == g
            l, w = losses[in_group], s[in_group]
            self.number[g] += np.count_nonzero(w)
            self.s[g] += w.sum()
            self.ss[g] += np.dot(w, w)
            self.sl[g] += np.dot(w, l)
            self.ssl[g] += np.dot(w * w, l)
            self.ssll[g] += np.dot(w * w, l * l)

    def mean(self) -> np.ndarray:
        """Return E."""
        nonempty = self.s > 0
        return (self.sl[nonempty] / self.s[nonempty, None]).mean(axis=0)

    def standard_error(self, f: float = 1.0) -> np.ndarray:
        """Return se."""
        nonempty = self.s > 0
        S, n = self.s[nonempty, None], self.number[nonempty, None]
        mean = self.sl[nonempty] / S
        spread = (
            self.ssll[nonempty] - 2 * mean * self.ssl[nonempty] + mean**2 * self.ss[nonempty, None]
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # one row has no spread
            variance = f * n / (n - 1) * np.maximum(spread, 0) / S**2
        return np.sqrt(variance.sum(axis=0)) / nonempty.sum()

    def average(self, confidence: float, f: float, *, counts: bool, most: float) -> AverageLoss:
        """Return mean, standard error and interval.

        ``counts``: the losses are 0 or 1 with equal weights; ``most``: the largest possible loss.
        """
        error, se = self.mean(), self.standard_error(f)
        if counts:
            n = self.number.sum()
            intervals = clopper_pearson(np.rint(error * n) / f, n / f, confidence)
        else:
            half = norm.ppf((1 + confidence) / 2) * np.where(np.isnan(se), np.inf, se)
            intervals = np.stack([error - half, error + half], axis=1)
        return AverageLoss(error, se, np.clip(intervals, 0, most))


def average_of_folds(means: np.ndarray, confidence: float, most: float) -> AverageLoss:
    """Return the mean of (folds, len(ks)) means over folds, with the error from their spread."""
    folds = len(means)
    error, se = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(folds)
    half = t.ppf((1 + confidence) / 2, folds - 1) * se
    return AverageLoss(error, se, np.clip(np.stack([error - half, error + half], axis=1), 0, most))


def check_share(name: str, value: float) -> float:
    """Return a share between 0 and 1, or raise."""
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r}: give a share between 0 and 1, such as 0.95")
    return float(value)
