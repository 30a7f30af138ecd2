r"""Gaussians as a family for EM: looks at the rows in blocks that stay in cache.

    z = (x − c)/q,   c the columns' means, q their standard deviations

Everything is computed in z, where neither offsets nor units cost digits. Columns that are constant
have no density and are left out. Of a spherical Σ, q is one number for all columns.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from .covariances import CovarianceShape, Gaussians, Holding
from .densities import way_of
from .em import Look, shares_of
from .parametrization import chart_of

BLOCK = 1 << 18  # numbers in a block's features; p=64, k=32: half took 8 % longer, twice 20 %


class Coordinates(NamedTuple):
    """z = (x[kept] − c)/q."""

    c: np.ndarray
    q: np.ndarray
    kept: np.ndarray  # columns with a density
    mean: np.ndarray  # of all columns of X: what a constant one holds

    @property
    def log_volume(self) -> np.ndarray:
        """(p,) log q: what the density of x lacks to that of z, of an entry."""
        return np.log(self.q)

    def of(self, X: np.ndarray) -> np.ndarray:
        """A block of rows as (p, rows)."""
        X = X if len(self.kept) == len(self.mean) else X[:, self.kept]
        Z = np.empty((X.shape[1], X.shape[0]))
        np.subtract(X.T, self.c[:, None], out=Z, casting="unsafe")
        Z /= self.q[:, None]
        return Z


class Statistics(NamedTuple):
    """Sums over rows, about ``reference``."""

    N: np.ndarray
    A: np.ndarray
    S: np.ndarray
    reference: Any


class GaussianFamily:
    """Rows, the shape of Σ, and what holds it. ``way_of``: how densities are computed."""

    def __init__(
        self,
        rows: Rows,
        at: Coordinates,
        shape: CovarianceShape,
        hold: Holding,
        seen: np.ndarray | None = None,
        way_of: Any = way_of,
        least_rows: int = 128,
    ):
        self.rows, self.at, self.shape, self.hold, self.way_of = rows, at, shape, hold, way_of
        self.mass, self.least_rows = rows.S, least_rows
        # (p,) Σ s of the observed entries
        self.seen = np.full(len(at.kept), self.mass) if seen is None else seen

    def look(self, theta: Gaussians, beta: float = 1.0) -> Look:
        way = self._way(theta)
        shares = shares_of(self.rows, len(theta.pi))

        def of_block(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any, ...]:
            prepared = way.prepare(self.at.of(X))
            F, R = shares(way.log_joint(prepared), s, beta)
            return F, R.sum(axis=1), *way.sums(prepared, R)

        F, N, *sums = self._over_rows(of_block, len(theta.pi))
        A, S = way.statistics(tuple(sums))
        return Look(float(F - self.seen @ self.at.log_volume), Statistics(N, A, S, way.reference))

    def _way(self, theta: Gaussians) -> Any:
        return self.way_of(self.shape, theta, self.rows.shape[0])

    def log_joint(self, theta: Gaussians) -> Any:
        """A function of blocks of rows: log π_k p(x | θ_k), (rows, k)."""
        way = self._way(theta)

        def of_block(X: np.ndarray, _y: np.ndarray, _s: object) -> np.ndarray:
            Z = self.at.of(X)
            a: np.ndarray = way.log_joint(way.prepare(Z))
            a -= np.dot(self.at.log_volume, ~np.isnan(Z))
            return a.T

        return of_block

    def statistics_of(self, R: np.ndarray, about: np.ndarray) -> Statistics:
        """Of labels (n,) or responsibilities (n, k) that are given; missing entries are at the
        columns' means. ``about``: (k, p), near the means of the components."""
        every = np.arange(len(about))[:, None]

        def of_block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, R: np.ndarray
        ) -> tuple[Any, ...]:
            R = np.ascontiguousarray(R.T, dtype=float) if R.ndim == 2 else 1.0 * (every == R)
            R = R if s is None else R * s
            Z = self.at.of(X)
            Z[np.isnan(Z)] = 0.0
            return R.sum(axis=1), *self.shape.scatter(Z, R, about)

        N, A, S = self._over_rows(of_block, len(about), (R,))
        return Statistics(N, A, S, about)

    def _over_rows(self, of_block: Any, k: int, beside: Any = ()) -> Any:
        block = max(self.least_rows, BLOCK // (2 * len(self.at.kept) + k))
        return self.rows.reduce(of_block, beside=beside, block_rows=block, times=16)

    def maximise(self, statistics: Statistics, theta: Gaussians | None) -> Gaussians:
        mu, S = self.about_means(statistics, theta)
        before = 1.0 if theta is None else theta.cov
        cov = self.shape.maximise(statistics.N, S, self.hold, before)
        return self.theta(statistics.N / statistics.N.sum(), mu, cov)

    def about_means(self, statistics: Statistics, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        """(means, scatter about them). A component of nothing stays where it is."""
        N, A, S, reference = statistics
        means = reference + A / np.where(N > 0, N, 1.0)[:, None]
        stays = 0.0 if theta is None else theta.mu
        return np.where(N[:, None] > 0, means, stays), self.shape.within(N, A, S)

    def theta(self, pi: np.ndarray, mu: np.ndarray, cov: np.ndarray) -> Gaussians:
        return Gaussians(pi, mu, cov, *self.shape.factor(cov, self.hold.least))

    def stir(self, theta: Gaussians, draw: np.random.RandomState, by: float) -> Gaussians:
        """Centres a little apart."""
        spread = np.sqrt(self.shape.diagonals(theta.cov, len(theta.mu)))
        return theta._replace(mu=theta.mu + by * spread * draw.standard_normal(theta.mu.shape))

    def chart(self, theta: Gaussians) -> Any:
        """Free numbers around theta, for ascents that know gradients alone."""
        return chart_of(self, theta)

    def log_prior(self, theta: Gaussians) -> float:
        matrices = 1 if self.shape.shared else len(theta.pi)
        volume = self.hold.epsilon * matrices * self.at.log_volume.sum()
        return float(self.shape.log_prior(theta, self.hold) - volume)
