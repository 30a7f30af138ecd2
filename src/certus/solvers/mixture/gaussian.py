r"""Gaussian components as a family for EM, evaluated over blocks of rows that stay in cache.

    z = (x − c)/q,   c the columns' means, q their standard deviations

Everything is computed in z, so that neither offsets nor units cost digits. Constant columns have no
density and are left out. For a spherical Σ, q is one number for all columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from ...data.rows import Rows
from .covariances import CovarianceShape, Gaussians, Regularization
from .densities import DensityMethod, density_method
from .em import EMEvaluation, ResponsibilityFunction, responsibility_function
from .missing_entries import ObservedEntries
from .parametrization import parametrize
from .starts import Assignment, AssignmentRule

# numbers in a block; for p=64, k=32, half as many took 8 % longer, twice as many 20 %
BLOCK_ELEMENTS = 1 << 18


class ScaledCoordinates(NamedTuple):
    """z = (x[kept] − c)/q."""

    c: np.ndarray
    q: np.ndarray
    kept: np.ndarray  # columns with a density
    mean: np.ndarray  # of all columns of X; for a constant column, its value

    @property
    def log_volume(self) -> np.ndarray:
        """log q (p,): log density of z minus log density of x, for each entry."""
        return np.log(self.q)

    def of(self, X: np.ndarray) -> np.ndarray:
        """Standardised rows of a block, transposed to (p, rows)."""
        X = X if len(self.kept) == len(self.mean) else X[:, self.kept]
        Z = np.empty((X.shape[1], X.shape[0]))
        np.subtract(X.T, self.c[:, None], out=Z, casting="unsafe")
        Z /= self.q[:, None]
        return Z


class Statistics(NamedTuple):
    """Weighted sums over rows, about ``reference``."""

    N: np.ndarray  # Σ s r
    A: np.ndarray  # Σ s r (z − reference)
    S: np.ndarray  # Σ s r (z − reference)(z − reference)ᵀ, in the shape of the covariances
    reference: Any


@dataclass(frozen=True, eq=False)
class GaussianLogJoint:
    """Joint log densities log π_k p(x | θ_k) of a block of rows, (rows, k)."""

    coordinates: ScaledCoordinates
    method: Any

    def __call__(self, X: np.ndarray, _y: object, _s: object) -> np.ndarray:
        Z = self.coordinates.of(X)
        a: np.ndarray = self.method.log_joint(self.method.prepare(Z))
        a -= np.dot(self.coordinates.log_volume, ~np.isnan(Z))
        return a.T


@dataclass(frozen=True, eq=False)
class GaussianImputer:
    """Rows of a block with missing entries replaced by Σ_k r_k E[x_m | x_o, k]."""

    coordinates: ScaledCoordinates
    method: ObservedEntries

    def __call__(self, X: np.ndarray, _y: object, _s: object) -> np.ndarray:
        c, q, kept, mean = self.coordinates
        out = np.where(np.isnan(X), mean, X)  # columns left out have a single value
        completed = self.method.prepare(self.coordinates.of(X))
        R = softmax(self.method.log_joint(completed), axis=0)
        columns, rows = np.nonzero(completed.patterns.is_missing)
        z = self.method.expected_entries(completed, R)
        out[rows, kept[columns]] = c[columns] + q[columns] * z
        return out


def expected_sums(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    coordinates: ScaledCoordinates,
    method: DensityMethod,
    responsibilities: ResponsibilityFunction,
    beta: float,
) -> tuple[Any, ...]:
    """Return Σ s (1/β) log Σ (πp)^β and the sums of the next step, for one block."""
    prepared = method.prepare(coordinates.of(X))
    F, R = responsibilities(method.log_joint(prepared), s, beta)
    return F, R.sum(axis=1), *method.sums(prepared, R)


def assigned_sums(X: np.ndarray, _y: object, s: np.ndarray | None, *given: Any) -> tuple[Any, ...]:
    """Return the sums of one block for the responsibilities of a start."""
    rule: AssignmentRule
    *kept, rule, coordinates, shape, about = given
    R = rule(X, *kept)
    R = R if s is None else R * s
    Z = coordinates.of(X)
    Z[np.isnan(Z)] = 0.0
    return R.sum(axis=1), *shape.scatter(Z, R, about)


class GaussianFamily:
    """Gaussian components of given rows: covariance shape, regularisation and density method."""

    def __init__(
        self,
        rows: Rows,
        coordinates: ScaledCoordinates,
        shape: CovarianceShape,
        regularization: Regularization,
        observed_weight: np.ndarray | None = None,
        density_method: Any = density_method,
        min_block_rows: int = 128,
    ):
        self.rows, self.coordinates, self.shape = rows, coordinates, shape
        self.regularization, self.density_method = regularization, density_method
        self.mass, self.min_block_rows = rows.S, min_block_rows
        if observed_weight is None:
            observed_weight = np.full(len(coordinates.kept), self.mass)
        self.observed_weight = observed_weight  # (p,) Σ s over the observed entries

    def evaluate(self, theta: Gaussians, beta: float = 1.0) -> EMEvaluation:
        method, k = self._method(theta), len(theta.pi)
        responsibilities = responsibility_function(self.rows, k)
        args = self.coordinates, method, responsibilities, beta
        F, N, *sums = self._over_rows(expected_sums, args, k)
        A, S = method.statistics(tuple(sums))
        return EMEvaluation(
            float(F - self.observed_weight @ self.coordinates.log_volume),
            Statistics(N, A, S, method.reference),
        )

    def _method(self, theta: Gaussians) -> Any:
        return self.density_method(self.shape, theta, self.rows.shape[0])

    def log_joint(self, theta: Gaussians) -> "GaussianLogJoint":
        """Return the function from a block of rows to log π_k p(x | θ_k), (rows, k)."""
        return GaussianLogJoint(self.coordinates, self._method(theta))

    def statistics_of(self, assignment: Assignment, about: np.ndarray) -> Statistics:
        """Statistics for the responsibilities of a start.

        Missing entries count as the columns' means. ``about``: (k, p), near the components' means.
        """
        args = assignment.rule, self.coordinates, self.shape, about
        N, A, S = self._over_rows(assigned_sums, args, len(about), assignment.beside)
        return Statistics(N, A, S, about)

    def _over_rows(
        self, sums: Callable[..., Any], args: tuple[Any, ...], k: int, beside: Any = ()
    ) -> Any:
        p = len(self.coordinates.kept)
        block = max(self.min_block_rows, BLOCK_ELEMENTS // (2 * p + k))
        matrices = {"full": k, "tied": 1}.get(self.shape.name, 0)
        size = 8 * p * (p * matrices + 2 * k)
        return self.rows.reduce(
            sums, *args, beside=beside, block_rows=block, times=16, result_bytes=size
        )

    def maximize(self, statistics: Statistics, theta: Gaussians | None) -> Gaussians:
        mu, S = self.about_means(statistics, theta)
        before = 1.0 if theta is None else theta.cov
        cov = self.shape.maximize(statistics.N, S, self.regularization, before)
        return self.theta(statistics.N / statistics.N.sum(), mu, cov)

    def about_means(self, statistics: Statistics, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the means and the scatter about them; a component without rows keeps its mean."""
        N, A, S, reference = statistics
        means = reference + A / np.where(N > 0, N, 1.0)[:, None]
        previous = 0.0 if theta is None else theta.mu
        return np.where(N[:, None] > 0, means, previous), self.shape.within(N, A, S)

    def theta(self, pi: np.ndarray, mu: np.ndarray, cov: np.ndarray) -> Gaussians:
        return Gaussians(pi, mu, cov, *self.shape.factor(cov, self.regularization.min_variance))

    def perturb(self, theta: Gaussians, rng: np.random.RandomState, by: float) -> Gaussians:
        """Move the means at random by ``by`` standard deviations."""
        spread = np.sqrt(self.shape.diagonals(theta.cov, len(theta.mu)))
        return theta._replace(mu=theta.mu + by * spread * rng.standard_normal(theta.mu.shape))

    def parametrization(self, theta: Gaussians) -> Any:
        """Unconstrained parameters around theta, for gradient methods."""
        return parametrize(self, theta)

    def log_prior(self, theta: Gaussians) -> float:
        matrices = 1 if self.shape.shared else len(theta.pi)
        volume = self.regularization.epsilon * matrices * self.coordinates.log_volume.sum()
        return float(self.shape.log_prior(theta, self.regularization) - volume)
