r"""Gaussians of rows with missing entries: marginal densities and conditional expectations.

With o the observed columns of a row and m the missing ones, for each component

    log p(x_o) = log N(x_o | μ_o, Σ_oo)
    E[z_m | x_o] = μ_m + B(z_o − μ_o),   Cov[z_m | x_o] = Σ_mm − BΣ_om,   B = Σ_mo Σ_oo⁻¹

so the statistics are those of the completed rows plus Σ r Cov. Rows with the same columns missing
share the factors. A row without any observed entry has r = π.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .covariances import CovarianceShape, Gaussians
from .densities import LOG_2PI, log_weights
from .em import Collapsed

# 256 MB of conditional distributions; those of further patterns are computed whenever needed
MAX_CACHED_NUMBERS = 1 << 25


class Pattern(NamedTuple):
    """Rows of a block with the same columns observed."""

    rows: np.ndarray
    observed: np.ndarray
    missing: np.ndarray


class ConditionalGaussian(NamedTuple):
    """Distribution of missing entries given the observed ones, for one component and pattern."""

    W: np.ndarray  # ‖W(z_o − μ_o)‖² is the squared Mahalanobis distance
    const: float
    B: np.ndarray
    cov: np.ndarray  # of the missing entries


class ObservedEntries:
    """Density method for missing entries: by patterns of missing columns, about the means."""

    def __init__(self, shape: CovarianceShape, theta: Gaussians, _rows: int):
        k, p = theta.mu.shape
        self.shape, self.theta, self.reference = shape, theta, theta.mu
        self.matrices = shape.matrices(theta.cov, k, p)
        self.cache: dict[bytes, list[ConditionalGaussian]] = {}
        self.max_cached = MAX_CACHED_NUMBERS // max(1, 2 * k * p * p)

    def prepare(self, Z: np.ndarray) -> tuple[np.ndarray, list[Pattern]]:
        is_missing = np.isnan(Z)
        codes = np.packbits(is_missing, axis=0)
        _, which = np.unique(codes, axis=1, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        cuts = np.flatnonzero(np.diff(which.ravel()[order])) + 1
        patterns = []
        for rows in np.split(order, cuts):
            missing = is_missing[:, rows[0]]
            patterns.append(Pattern(rows, np.flatnonzero(~missing), np.flatnonzero(missing)))
        return Z, patterns

    def log_joint(self, prepared: tuple[np.ndarray, list[Pattern]]) -> np.ndarray:
        Z, patterns = prepared
        out = np.empty((len(self.theta.mu), Z.shape[1]))
        for pattern in patterns:
            z = Z[np.ix_(pattern.observed, pattern.rows)]
            for k, conditional in enumerate(self._conditionals(pattern)):
                V = np.dot(conditional.W, z - self.theta.mu[k, pattern.observed][:, None])
                out[k, pattern.rows] = conditional.const - 0.5 * np.einsum("ij,ij->j", V, V)
        out += log_weights(self.theta)[:, None]
        return out

    def sums(self, prepared: tuple[np.ndarray, list[Pattern]], R: np.ndarray) -> Any:
        Z, patterns = prepared
        k, p = self.theta.mu.shape
        A, S = np.zeros((k, p)), np.zeros((k, p, p))
        for pattern in patterns:
            o, m = pattern.observed, pattern.missing
            z = Z[np.ix_(o, pattern.rows)]
            for i, conditional in enumerate(self._conditionals(pattern)):
                r = R[i, pattern.rows]
                Y = np.empty((p, len(r)))
                Y[o] = z - self.theta.mu[i, o][:, None]
                Y[m] = np.dot(conditional.B, Y[o])
                A[i] += np.dot(Y, r)
                S[i] += np.dot(Y * r, Y.T)
                S[i][np.ix_(m, m)] += r.sum() * conditional.cov
        return A, self.shape.from_matrices(S).copy()

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]

    def _conditionals(self, pattern: Pattern) -> list[ConditionalGaussian]:
        key, o, m = pattern.missing.tobytes(), pattern.observed, pattern.missing
        found = self.cache.get(key)
        if found is None:
            found = [_conditional(i, C, o, m) for i, C in enumerate(self.matrices)]
            if len(self.cache) < self.max_cached:
                self.cache[key] = found
        return found


def _conditional(
    component: int, C: np.ndarray, o: np.ndarray, m: np.ndarray
) -> ConditionalGaussian:
    """Condition N(0, C) on the columns o."""
    size = np.sqrt(np.diag(C))[o]
    try:
        L = np.linalg.cholesky(C[np.ix_(o, o)] / np.multiply.outer(size, size))
    except np.linalg.LinAlgError:
        raise Collapsed(component) from None
    W = solve_triangular(L, np.eye(len(o)), lower=True) / size if len(o) else np.empty((0, 0))
    across = np.dot(C[np.ix_(m, o)], W.T)
    const = np.log(np.diag(W)).sum() - len(o) / 2 * LOG_2PI
    return ConditionalGaussian(
        W, float(const), np.dot(across, W), C[np.ix_(m, m)] - np.dot(across, across.T)
    )
