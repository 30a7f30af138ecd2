r"""Gaussians of rows with missing entries: densities of what is observed, expectations of the rest.

With o the observed columns of a row and m the missing ones, of each component

    log p(x_o) = log N(x_o | μ_o, Σ_oo)
    E[z_m | x_o] = μ_m + B(z_o − μ_o),   Cov[z_m | x_o] = Σ_mm − BΣ_om,   B = Σ_mo Σ_oo⁻¹

so the statistics are those of the completed rows plus Σ r Cov. Rows with the same columns missing
share the factors. A row of which nothing is observed says nothing: r = π.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .covariances import CovarianceShape, Gaussians
from .densities import LOG_2PI, log_shares
from .em import Collapsed


class Pattern(NamedTuple):
    """Rows of a block with the same columns observed."""

    rows: np.ndarray
    observed: np.ndarray
    missing: np.ndarray


class Conditional(NamedTuple):
    """Of one component and one pattern."""

    W: np.ndarray  # ‖W(z_o − μ_o)‖² is the distance
    const: float
    B: np.ndarray
    cov: np.ndarray  # of the missing entries


class Observed:
    """A way to look at rows: by patterns of missing entries, about the means."""

    def __init__(self, shape: CovarianceShape, theta: Gaussians, _rows: int):
        k, p = theta.mu.shape
        self.shape, self.theta, self.reference = shape, theta, theta.mu
        self.matrices = shape.matrices(theta.cov, k, p)
        self.kept: dict[bytes, list[Conditional]] = {}

    def prepare(self, Z: np.ndarray) -> tuple[np.ndarray, list[Pattern]]:
        gaps = np.isnan(Z)
        codes = np.packbits(gaps, axis=0)
        _, which = np.unique(codes, axis=1, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        cuts = np.flatnonzero(np.diff(which.ravel()[order])) + 1
        patterns = []
        for rows in np.split(order, cuts):
            missing = gaps[:, rows[0]]
            patterns.append(Pattern(rows, np.flatnonzero(~missing), np.flatnonzero(missing)))
        return Z, patterns

    def log_joint(self, prepared: tuple[np.ndarray, list[Pattern]]) -> np.ndarray:
        Z, patterns = prepared
        out = np.empty((len(self.theta.mu), Z.shape[1]))
        for pattern in patterns:
            z = Z[np.ix_(pattern.observed, pattern.rows)]
            for k, given in enumerate(self._given(pattern)):
                V = np.dot(given.W, z - self.theta.mu[k, pattern.observed][:, None])
                out[k, pattern.rows] = given.const - 0.5 * np.einsum("ij,ij->j", V, V)
        out += log_shares(self.theta)[:, None]
        return out

    def sums(self, prepared: tuple[np.ndarray, list[Pattern]], R: np.ndarray) -> Any:
        Z, patterns = prepared
        k, p = self.theta.mu.shape
        A, S = np.zeros((k, p)), np.zeros((k, p, p))
        for pattern in patterns:
            o, m = pattern.observed, pattern.missing
            z = Z[np.ix_(o, pattern.rows)]
            for i, given in enumerate(self._given(pattern)):
                r = R[i, pattern.rows]
                Y = np.empty((p, len(r)))
                Y[o] = z - self.theta.mu[i, o][:, None]
                Y[m] = np.dot(given.B, Y[o])
                A[i] += np.dot(Y, r)
                S[i] += np.dot(Y * r, Y.T)
                S[i][np.ix_(m, m)] += r.sum() * given.cov
        return A, self.shape.of_matrices(S).copy()

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]

    def _given(self, pattern: Pattern) -> list[Conditional]:
        key = pattern.missing.tobytes()
        if key not in self.kept:
            o, m = pattern.observed, pattern.missing
            self.kept[key] = [_conditional(i, C, o, m) for i, C in enumerate(self.matrices)]
        return self.kept[key]


def _conditional(component: int, C: np.ndarray, o: np.ndarray, m: np.ndarray) -> Conditional:
    size = np.sqrt(np.diag(C))[o]
    try:
        L = np.linalg.cholesky(C[np.ix_(o, o)] / np.multiply.outer(size, size))
    except np.linalg.LinAlgError:
        raise Collapsed(component) from None
    W = solve_triangular(L, np.eye(len(o)), lower=True) / size if len(o) else np.empty((0, 0))
    across = np.dot(C[np.ix_(m, o)], W.T)
    const = np.log(np.diag(W)).sum() - len(o) / 2 * LOG_2PI
    return Conditional(
        W, float(const), np.dot(across, W), C[np.ix_(m, m)] - np.dot(across, across.T)
    )
