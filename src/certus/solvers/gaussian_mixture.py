r"""Gaussians as a family for EM: looks at the rows in blocks that stay in cache.

    z = (x − c)/q,   c the columns' means, q their standard deviations

Everything is computed in z, where neither offsets nor units cost digits. Columns that are constant
have no density and are left out. Of a spherical Σ, q is one number for all columns.
"""

from typing import Any, NamedTuple

import numpy as np

from ..rows import Rows
from .em import Look, responsibilities
from .gaussian_covariances import Gaussians, Holding
from .gaussian_ways import way_of

BLOCK = 1 << 17  # numbers in a block's features: they stay in the second-level cache


class Coordinates(NamedTuple):
    """z = (x[kept] − c)/q."""

    c: np.ndarray
    q: np.ndarray
    D: np.ndarray  # (p,) variances of x, of the columns that were kept
    kept: np.ndarray  # columns that are not constant
    constants: np.ndarray  # (columns of X,) the first row
    all_kept: bool

    def of(self, X: np.ndarray) -> np.ndarray:
        """A block of rows as (p, rows)."""
        X = X if self.all_kept else X[:, self.kept]
        Z = np.empty((X.shape[1], X.shape[0]))
        np.subtract(X.T, self.c[:, None], out=Z, casting="unsafe")
        Z /= self.q[:, None]
        return Z


def coordinates(rows: Rows, one_scale: bool) -> Coordinates:
    """From the observed entries of rows with a weight."""
    first = _first_values(rows)
    N, A, Q = rows.reduce(_moments, first)
    seen = np.where(N > 0, N, 1.0)
    c = first + A / seen
    N, A, Q = rows.reduce(_moments, c)  # about the means: offsets cost no digits
    D = np.maximum(Q / seen - (A / seen) ** 2, 0.0)
    lowest, highest = rows.reduce(_extent, combine=_wider)
    D[~(highest > lowest)] = 0.0
    kept = np.flatnonzero(D > 0)
    q = np.sqrt(D[kept])
    if one_scale and len(kept):
        q = np.full(len(kept), np.sqrt(np.mean(D[kept])))
    return Coordinates(c[kept], q, D[kept], kept, first, len(kept) == rows.shape[1])


def _moments(X: Any, _y: Any, s: Any, about: np.ndarray) -> tuple[Any, Any, Any]:
    Z = X - about
    seen = ~np.isnan(Z)
    Z[~seen] = 0.0
    s = np.ones(len(Z)) if s is None else s
    return np.dot(s, seen), np.dot(s, Z), np.dot(s, Z * Z)


def _extent(X: Any, _y: Any, s: Any) -> tuple[Any, Any]:
    X = X if s is None else X[s > 0]
    top, low = np.nan_to_num(X, nan=-np.inf), np.nan_to_num(X, nan=np.inf)
    return low.min(axis=0, initial=np.inf), top.max(axis=0, initial=-np.inf)


def _wider(left: Any, right: Any) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def _first_values(rows: Rows) -> np.ndarray:
    """An observed value of each column, of a row that counts."""
    value = np.full(rows.shape[1], np.nan)
    for start, stop in rows.edges():
        X, _, s = rows.block(start, stop)
        X = X if s is None else X[s > 0]
        for j in np.flatnonzero(np.isnan(value)):
            seen = X[~np.isnan(X[:, j]), j]
            value[j] = seen[0] if len(seen) else np.nan
        if not np.isnan(value).any():
            break
    return value


class Statistics(NamedTuple):
    """Sums over rows, about ``reference``."""

    N: np.ndarray
    A: np.ndarray
    S: np.ndarray
    reference: Any


class GaussianFamily:
    """Rows, the shape of Σ, and what holds it."""

    def __init__(self, rows: Rows, at: Coordinates, shape: Any, hold: Holding):
        self.rows, self.at, self.shape, self.hold = rows, at, shape, hold
        self.mass = rows.S

    def look(self, theta: Gaussians, beta: float = 1.0) -> Look:
        way = way_of(self.shape, theta)
        with np.errstate(divide="ignore"):
            log_pi = np.log(theta.pi)[:, None]

        def of_block(X: Any, _y: Any, s: Any) -> tuple[Any, ...]:
            prepared = way.prepare(self.at.of(X))
            a = way.log_density(prepared)
            a += log_pi
            F, R = responsibilities(a, s, beta)
            return F, R.sum(axis=1), *way.statistics(prepared, R)

        F, N, A, S = self._over_rows(of_block)
        return Look(float(F), Statistics(N, A, S, way.reference))

    def statistics_of(self, R: np.ndarray, about: np.ndarray) -> Statistics:
        """Of responsibilities (n, k) that are given; ``about``: (k, p) near the means."""

        def of_block(X: Any, _y: Any, s: Any, R: np.ndarray) -> tuple[Any, ...]:
            R = np.ascontiguousarray(R.T, dtype=float)
            R = R if s is None else R * s
            return R.sum(axis=1), *self.shape.scatter(self.at.of(X), R, about)

        return Statistics(*self._over_rows(of_block, (R,)), about)

    def _over_rows(self, of_block: Any, beside: Any = ()) -> Any:
        p = len(self.at.kept)
        full = self.shape.name == "full"
        wide = p * (p + 3) // 2 if full and p <= 32 else 2 * p
        block = max(128, BLOCK // max(wide, 1))
        return self.rows.reduce(of_block, beside=beside, block_rows=block, times=16)

    def maximise(self, statistics: Statistics, theta: Gaussians | None) -> Gaussians:
        N, A, S, reference = statistics
        k = len(N)
        some = np.where(N > 0, N, 1.0)[:, None]
        mu = np.where(N[:, None] > 0, reference + A / some, 0.0 if theta is None else theta.mu)
        before = 1.0 if theta is None else theta.cov
        cov = self.shape.maximise(N, self.shape.within(N, A, S), self.hold, before)
        return self.theta(N / self.mass if k > 1 else np.ones(1), mu, cov)

    def theta(self, pi: np.ndarray, mu: np.ndarray, cov: np.ndarray) -> Gaussians:
        return Gaussians(pi, mu, cov, *self.shape.factor(cov))

    def log_prior(self, theta: Gaussians) -> float:
        value: float = self.shape.log_prior(theta, self.hold)
        return value
