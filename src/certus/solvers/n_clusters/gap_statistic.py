"""Parts of the gap statistic: scatter within clusters, and samples without structure.

    W  = Σ_C Σ_{i ∈ C} s_i ‖x_i − m_C‖²
    x* = mean + Σ_l z_l v_l,        z_l uniform in [low_l, high_l]

v_l are the principal axes of the data, low and high the least and largest coordinate along them.
"""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import blas_limiter


def within(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None = None) -> float:
    """Return W, computed about a row of each cluster, which is accurate far from the origin."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    each = np.diff(starts, append=len(X))
    weight = np.ones(len(X)) if s is None else s[order]
    x = X[order].astype(np.float64)
    x -= np.repeat(x[starts], each, axis=0)
    N = np.add.reduceat(weight, starts)
    m = np.add.reduceat(weight[:, None] * x, starts, axis=0) / N[:, None]
    x -= np.repeat(m, each, axis=0)
    return float(np.dot(weight, np.einsum("ij,ij->i", x, x)))


class ReferenceBox(NamedTuple):
    """The smallest box along principal axes that contains all rows."""

    mean: np.ndarray  # (p,)
    axes: np.ndarray  # (r, p), orthonormal rows
    low: np.ndarray  # (r,)
    high: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, s: np.ndarray | None = None) -> "ReferenceBox":
        x = X.astype(np.float64)
        mean = x[0] + np.average(x - x[0], axis=0, weights=s)
        x -= mean
        n, p = x.shape
        weighted = x if s is None else np.sqrt(s)[:, None] * x
        with blas_limiter:  # the bits of a product depend on how many threads share it
            if n > p:
                axes = np.linalg.eigh(np.dot(weighted.T, weighted))[1].T
            else:
                axes = np.linalg.svd(weighted, full_matrices=False)[2]
            z = np.dot(x, axes.T)
        return cls(mean, axes, z.min(axis=0), z.max(axis=0))

    def draw(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw n rows uniformly in the box."""
        z = self.low + (self.high - self.low) * rng.random_sample((n, len(self.low)))
        drawn: np.ndarray = self.mean + np.dot(z, self.axes)
        return drawn
