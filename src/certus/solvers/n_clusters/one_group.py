"""BIC of uniform densities, which a mixture of several Gaussians has to beat as one group.

    BIC = 2n log V + m log n        V: the volume that holds all rows,  n = Σ s_i

A box along the columns has m = 2p numbers, one along the principal axes p(p − 1)/2 more, an
ellipsoid (x − x̄)ᵀΣ⁻¹(x − x̄) ≤ r² has m = p + p(p + 1)/2, and the convex hull has p for each corner
(up to four columns, since its corners become too many). Several Gaussians describe a uniform box
better than one does, and the more rows there are, the more of them: those are no groups.
"""

from math import inf, lgamma, log, pi
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from ...runtime.pool import blas_limiter

MIN_RELATIVE_VARIANCE = 1e-12  # along an axis, of the largest: below it rounding decides the volume

MAX_HULL_COLUMNS, MIN_HULL_ROWS_PER_COLUMN = 4, 5


class GroupBic(NamedTuple):
    """The BIC of a single group, and the name of its density."""

    value: float
    name: str


def least_uniform_bic(X: np.ndarray, s: np.ndarray | None) -> GroupBic:
    """Return the least BIC of uniform densities on the columns that are not constant."""
    x = X.astype(np.float64)[:, np.ptp(X, axis=0) > 0]
    x -= x[0] + np.average(x - x[0], axis=0, weights=s)
    n, p = (len(x) if s is None else float(s.sum())), x.shape[1]
    sizes = np.ptp(x, axis=0)
    found = [GroupBic(2 * n * float(np.log(sizes).sum()) + 2 * p * log(n), "uniform box")]
    x /= sizes
    scale = float(np.log(sizes).sum())
    with blas_limiter:  # the bits of a product depend on how many threads share it
        variance, axes = np.linalg.eigh(np.cov(x, rowvar=False, aweights=s).reshape(p, p))
        z = np.dot(x, axes)
    if variance[0] > MIN_RELATIVE_VARIANCE * variance[-1]:
        turned = scale + float(np.log(np.ptp(z, axis=0)).sum())
        m = 2 * p + p * (p - 1) / 2
        found.append(GroupBic(2 * n * turned + m * log(n), "uniform box"))
        radius2 = float((z * z / variance).sum(axis=1).max())
        ball = p / 2 * log(pi) - lgamma(p / 2 + 1)
        volume = scale + ball + p / 2 * log(radius2) + float(np.log(variance).sum()) / 2
        m = p + p * (p + 1) / 2
        found.append(GroupBic(2 * n * volume + m * log(n), "uniform ellipsoid"))
        if 1 < p <= MAX_HULL_COLUMNS and len(x) > MIN_HULL_ROWS_PER_COLUMN * p:
            hull = ConvexHull(z / np.sqrt(variance))
            volume = scale + log(hull.volume) + float(np.log(variance).sum()) / 2
            m = p * len(hull.vertices)
            found.append(GroupBic(2 * n * volume + m * log(n), "uniform convex hull"))
    return min(found, key=lambda one: one.value)


class OneGaussian(NamedTuple):
    """A Gaussian with the mean and covariance of the rows, to draw samples of one group from."""

    mean: np.ndarray  # (p,)
    root: np.ndarray  # (r, p): Σ = rootᵀ root

    @classmethod
    def of(cls, X: np.ndarray, s: np.ndarray | None = None) -> "OneGaussian":
        x = X.astype(np.float64)
        mean = x[0] + np.average(x - x[0], axis=0, weights=s)
        x -= mean
        x *= np.sqrt(1 / len(x) if s is None else s / s.sum())[..., None]
        with blas_limiter:
            if len(x) > x.shape[1]:
                variance, axes = np.linalg.eigh(np.dot(x.T, x))
                return cls(mean, np.sqrt(np.maximum(variance, 0))[:, None] * axes.T)
            _, size, axes = np.linalg.svd(x, full_matrices=False)
        return cls(mean, size[:, None] * axes)

    def draw(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        """Draw n rows."""
        z = rng.standard_normal((n, len(self.root)))
        drawn: np.ndarray = self.mean + np.dot(z, self.root)
        return drawn


def better(one: GroupBic, other: GroupBic) -> GroupBic:
    """Return the density of the lower BIC; one whose BIC is NaN has none."""
    value = inf if np.isnan(one.value) else one.value
    return one if value <= (inf if np.isnan(other.value) else other.value) else other
