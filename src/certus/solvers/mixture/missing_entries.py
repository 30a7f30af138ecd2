r"""Gaussians of rows with missing entries: marginal densities and conditional expectations.

With o the observed columns of a row, m the missing ones, y = z − μ, P = Σ⁻¹ = UUᵀ, for each
component

    E[y_m | z_o] = B y_o,   B = Σ_mo Σ_oo⁻¹ = −P_mm⁻¹ P_mo
    Cov[z_m | z_o] = Σ_mm − B Σ_om = P_mm⁻¹

The expectation minimises yᵀPy over y_m, and the minimum is y_oᵀ Σ_oo⁻¹ y_o. So with rows completed,

    log p(x_o) = −½‖Uᵀy‖² + ½ log|Σ_oo⁻¹| − ½ |o| log 2π,      |Σ_oo⁻¹| = |P| / |P_mm|

and the statistics are those of the completed rows plus Σ r Cov: distances and sums are those of
rows without missing entries. The smaller of P_mm and Σ_oo is factored, for all patterns of a batch
together. A row without any observed entry has r = π.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from .covariances import COVARIANCES, CovarianceShape, Gaussians
from .densities import LOG_2PI, density_method, log_weights
from .em import Collapsed
from .missing_patterns import PatternBatch, PatternCache, Patterns


class Completed(NamedTuple):
    """A block with the conditional distributions of its missing entries."""

    Z: np.ndarray  # (p, rows), 0 where an entry is missing
    patterns: Patterns
    expected: np.ndarray  # (k, missing entries): E[y_m | z_o], in the order of the block
    half_log_det: np.ndarray  # (k, patterns): ½ log|Σ_oo⁻¹|
    cov: list[np.ndarray]  # Cov[z_m | z_o] of the patterns of each batch


class Conditionals(Protocol):
    """Conditional distributions of missing entries, for one shape of covariances."""

    def complete(self, Z: np.ndarray, patterns: Patterns) -> Completed: ...

    def added(self, completed: Completed, weights: np.ndarray) -> np.ndarray:
        """Σ r Cov[z | z_o] of each component, from the sums of r (k, patterns)."""
        ...


class MissingEntries:
    """Makes density methods for missing entries that share the patterns of the blocks."""

    def __init__(self) -> None:
        self.cache = PatternCache()

    def __call__(self, shape: CovarianceShape, theta: Gaussians, rows: int) -> "ObservedEntries":
        return ObservedEntries(shape, theta, rows, self.cache)


class ObservedEntries:
    """Density method for missing entries: completes the rows, component by component."""

    def __init__(self, shape: CovarianceShape, theta: Gaussians, rows: int, cache: PatternCache):
        k = len(theta.mu)
        self.shape, self.theta, self.reference, self.cache = shape, theta, theta.mu, cache
        self.conditionals: Conditionals
        if theta.U.ndim == 2 and not shape.shared:
            self.conditionals = DiagonalConditionals(theta)
            self.each = [_about_zero("diag", theta.cov[i], theta.U[i], rows * k) for i in range(k)]
            return
        matrices = shape.matrices(theta.cov, k, theta.mu.shape[1])
        self.conditionals = MatrixConditionals(theta, matrices)
        U = np.broadcast_to(theta.U, matrices.shape)
        count = 1 if shape.shared else k
        self.each = [_about_zero("full", matrices[i], U[i], rows * k) for i in range(count)]
        self.each *= k // count

    def prepare(self, Z: np.ndarray) -> Completed:
        patterns = self.cache.patterns(np.isnan(Z))
        filled = np.ascontiguousarray(Z).copy()
        filled.reshape(-1)[patterns.entries] = 0.0
        return self.conditionals.complete(filled, patterns)

    def log_joint(self, completed: Completed) -> np.ndarray:
        Z, patterns, _, half_log_det, _ = completed
        out = half_log_det[:, patterns.of_row]
        out -= (len(Z) - patterns.is_missing.sum(axis=0)) * (LOG_2PI / 2)
        out += log_weights(self.theta)[:, None]
        for k, method in enumerate(self.each):
            out[k] += method.log_joint(self._differences(completed, k))[0]
        return out

    def sums(self, completed: Completed, R: np.ndarray) -> Any:
        A, S = np.empty(self.theta.mu.shape), []
        for k, method in enumerate(self.each):
            about, scatter = method.sums(self._differences(completed, k), R[k : k + 1])
            A[k] = about[0]
            S.append(scatter[0])
        total = np.array(S) + self.conditionals.added(completed, completed.patterns.sums(R))
        return A, total.sum(axis=0) if self.shape.shared else total

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]

    def expected_entries(self, completed: Completed, R: np.ndarray) -> Any:
        """Σ_k r_k E[z_m | z_o, k] of the missing entries, in the order of the block."""
        columns, rows = np.nonzero(completed.patterns.is_missing)
        each = completed.expected + self.theta.mu[:, columns]
        return np.einsum("ki,ki->i", R[:, rows], each)

    def _differences(self, completed: Completed, k: int) -> np.ndarray:
        """Completed rows minus the component's mean."""
        Y = np.asarray(completed.Z - self.theta.mu[k][:, None])
        Y.reshape(-1)[completed.patterns.entries] = completed.expected[k]
        return Y


class DiagonalConditionals:
    """Independent columns: the observed entries say nothing about the others."""

    def __init__(self, theta: Gaussians):
        self.theta, self.log_u = theta, np.log(theta.U)

    def complete(self, Z: np.ndarray, patterns: Patterns) -> Completed:
        observed = ~patterns.is_missing[:, patterns.order[patterns.starts]]
        half_log_det = np.dot(self.log_u, observed)
        expected = np.zeros((len(self.log_u), len(patterns.entries)))
        return Completed(Z, patterns, expected, half_log_det, [])

    def added(self, completed: Completed, weights: np.ndarray) -> np.ndarray:
        patterns = completed.patterns
        is_missing = patterns.is_missing[:, patterns.order[patterns.starts]]
        return np.asarray(np.dot(weights, is_missing.T) * self.theta.cov)


class MatrixConditionals:
    """Full covariances, or the one of all components."""

    def __init__(self, theta: Gaussians, matrices: np.ndarray):
        self.mu, shared = theta.mu, theta.U.ndim == 2
        self.C = matrices[:1] if shared else matrices
        U = theta.U[None] if shared else theta.U
        self.P = np.matmul(U, U.transpose(0, 2, 1))
        self.log_det = np.log(np.einsum("kii->ki", U)).sum(axis=1)

    def complete(self, Z: np.ndarray, patterns: Patterns) -> Completed:
        k = len(self.mu)
        expected = np.empty((k, len(patterns.entries)))
        half_log_det = np.empty((k, len(patterns.starts)))
        half_log_det[:] = self.log_det[:, None]
        covariances = []
        for batch in patterns.batches:
            B, cov, half = self._conditional(batch)
            y = Z[batch.observed[:, :, None], batch.rows[:, None, :]]
            y = y - self.mu[:, batch.observed][..., None]  # (k, g, p − q, w)
            expected[:, batch.entries] = np.matmul(B, y).swapaxes(2, 3)
            half_log_det[:, batch.patterns] = half
            covariances.append(cov)
        return Completed(Z, patterns, expected, half_log_det, covariances)

    def added(self, completed: Completed, weights: np.ndarray) -> np.ndarray:
        k, p = self.mu.shape
        out = np.zeros((k, p * p))
        for batch, cov in zip(completed.patterns.batches, completed.cov, strict=True):
            places = batch.missing[:, :, None] * p + batch.missing[:, None, :]
            terms = weights[:, batch.patterns, None, None] * cov
            for i in range(k):
                out[i] += np.bincount(places.ravel(), terms[i].ravel(), p * p)
        return out.reshape(k, p, p)

    def _conditional(self, batch: PatternBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return B, Cov[z_m | z_o] and ½ log|Σ_oo⁻¹| of each component and pattern."""
        m, o = batch.missing, batch.observed
        if m.shape[1] <= o.shape[1]:
            cov, half = _inverse(_part(self.P, m, m))
            return -np.matmul(cov, _part(self.P, m, o)), cov, self.log_det[:, None] + half
        inverse, half = _inverse(_part(self.C, o, o))
        across = _part(self.C, m, o)
        B = np.matmul(across, inverse)
        return B, _part(self.C, m, m) - np.matmul(B, across.swapaxes(2, 3)), half


def _part(A: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Submatrices of each A, (k, patterns, rows, columns)."""
    return A[:, rows[:, :, None], columns[:, None, :]]


def _inverse(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses of symmetric positive definite matrices, and ½ log of their determinants."""
    size = np.sqrt(np.einsum("...ii->...i", A))
    scale = size[..., :, None] * size[..., None, :]
    try:
        L = np.linalg.cholesky(A / scale)
    except np.linalg.LinAlgError:
        raise Collapsed(_first_singular(A / scale)) from None
    W = np.tril(np.linalg.solve(L, np.broadcast_to(np.eye(A.shape[-1]), A.shape)))
    half = np.log(np.einsum("...ii->...i", W) / size).sum(axis=-1)
    return np.matmul(W.swapaxes(-1, -2), W) / scale, half


def _first_singular(A: np.ndarray) -> int:
    """Return the first component of which a matrix has no Cholesky factor."""
    for k, matrices in enumerate(A):
        try:
            np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:
            return k
    return 0


def _about_zero(name: str, cov: np.ndarray, U: np.ndarray, rows: int) -> Any:
    """Return the method of one component at 0, whose log density is −½ of squared distances."""
    p = len(U)
    no_constant = np.array([p / 2 * LOG_2PI])
    theta = Gaussians(np.ones(1), np.zeros((1, p)), cov[None], U[None], no_constant)
    return density_method(COVARIANCES[name], theta, rows)
