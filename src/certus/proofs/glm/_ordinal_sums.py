r"""Sums over rows of the proportional-odds model, with bounds of their rounding errors.

    P(y ≤ k | x) = σ(c_k − z),   z = xᵀw,   c_0 < c_1 < … < c_{K−2},   y = 0 … K − 1

Between two thresholds σ(a) − σ(b) = σ(a) σ(−b) (1 − e^{b−a}), a = c_y − z and b = c_{y−1} − z, so

    −log P(y | x) = log(1 + e^{−a}) + log(1 + e^{b}) − log(1 − e^{−(c_y − c_{y−1})})

(without the first term for the last class, without the second for the first class): nothing
cancels. Each logarithm is convex in (w, c); the last depends on the thresholds only.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.linear_sums import View, gamma
from certus.proofs.types import RowData


class OrdinalSums(NamedTuple):
    """Sums of the two logistic terms of each row, in the columns as viewed; parameters (w, c)."""

    mass: np.ndarray  # Σ s of each class
    loss: float
    g: np.ndarray  # (P,), P = p + K − 1
    H: np.ndarray  # (P, P)
    loss_error: float  # bound of the effect of the scores' rounding
    g_error: np.ndarray  # (P,)
    size: np.ndarray  # (P,): Σ s |∂| |x_j|, the scale of the sums' own rounding


class RowTerms(NamedTuple):
    """Derivatives of the two logistic terms of each row, (n,)."""

    slope: np.ndarray  # ∂/∂z
    steepness: np.ndarray  # Σ |∂/∂z|
    curvature: np.ndarray  # ∂²/∂z²


def ordinal_sums(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    c: np.ndarray,
    c_error: float,
    view: View,
) -> tuple[OrdinalSums, Any]:
    """Return the sums of one block and max |x_j| of weighted rows; w (p,), c (K − 1,) as viewed."""
    Z = view.of(X)
    z, size = np.dot(Z, w), np.dot(np.abs(Z), np.abs(w))
    error = gamma(Z.shape[1] + 6) * (size + np.abs(c).max()) + c_error
    s = np.ones(len(z)) if s is None else s
    sums, _ = sums_of_terms(Z, y[:, 0].astype(np.intp), s, (z, np.zeros_like(z)), error, c)
    return sums, np.abs(Z[s > 0]).max(axis=0, initial=0.0)


def sums_of_terms(
    Z: np.ndarray,
    k: np.ndarray,
    s: np.ndarray,
    z: tuple[Any, Any],
    error: np.ndarray,
    c: np.ndarray,
) -> tuple[OrdinalSums, RowTerms]:
    """Return the sums for columns Z (n, p), classes k and scores z (n,).

    Each score is the sum of two numbers, with an error of at most ``error``.
    """
    (n, p), K = Z.shape, len(c) + 1
    total = OrdinalSums(
        np.bincount(k, s, K).astype(float), 0.0, np.zeros(p + K - 1),
        np.zeros((p + K - 1, p + K - 1)), 0.0, np.zeros(p + K - 1), np.zeros(p + K - 1),
    )  # fmt: skip
    loss = loss_error = 0.0
    slope, steepness, curvature = np.zeros((3, n))
    for above in (0, 1):  # log(1 + e^{−a}) of the upper threshold, log(1 + e^b) of the lower one
        rows = np.flatnonzero((k < K - 1) if not above else (k > 0))
        t = k[rows] - above
        m = ((z[0][rows] - c[t]) + z[1][rows]) * (-1.0 if above else 1.0)  # −a, or b
        e = np.exp(-np.abs(m))
        a = np.where(m > 0, 1.0, e) / (1 + e)  # the slope of log(1 + e^m)
        h = e / (1 + e) ** 2
        loss += s[rows] @ (np.log1p(e) + np.maximum(m, 0.0))
        loss_error += s[rows] @ (a * error[rows] + error[rows] ** 2 / 8)
        of_z = -a if above else a
        slope[rows] += of_z
        steepness[rows] += a
        curvature[rows] += h
        # ∂/∂c_t is −∂/∂z of the same term
        total.g[p:] -= np.bincount(t, s[rows] * of_z, K - 1)
        total.size[p:] += np.bincount(t, s[rows] * a, K - 1)
        total.g_error[p:] += np.bincount(t, s[rows] * error[rows], K - 1) / 4
        total.H[np.arange(p, p + K - 1), np.arange(p, p + K - 1)] += np.bincount(
            t, s[rows] * h, K - 1
        )
        for j in range(K - 1):
            at_threshold = rows[t == j]
            total.H[:p, p + j] -= np.dot(s[at_threshold] * h[t == j], Z[at_threshold])
    total.H[p:, :p] = total.H[:p, p:].T
    total.H[:p, :p] = np.dot(Z.T, (s * curvature)[:, None] * Z)
    total.g[:p] = np.dot(s * slope, Z)
    total.size[:p] = np.dot(s * steepness, np.abs(Z))
    total.g_error[:p] = np.dot(s * error, np.abs(Z)) / 2
    return total._replace(loss=loss, loss_error=loss_error), RowTerms(slope, steepness, curvature)


def combine_ordinal(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[OrdinalSums, Any]:
    sums = OrdinalSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, np.maximum(left[1], right[1])


def between_thresholds(c: np.ndarray, mass: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return Σ_k n_k g(d_k) of the classes between two thresholds, g(d) = −log(1 − e^{−d}).

    Also returns its gradient and Hessian in c, and the sum of absolute values of the gradient's
    terms.
    """
    d, n = np.diff(c), mass[1:-1]
    # 1 − e^{−d} is near 1 for large d, near d for small ones: neither logarithm loses digits
    value = -n * np.where(d > 0.7, np.log1p(-np.exp(-d)), np.log(-np.expm1(-d)))
    slope = -n / np.expm1(d)
    curvature = n / (2 * np.sinh(np.minimum(d, 1400.0) / 2)) ** 2
    g, H, size = np.zeros(len(c)), np.zeros((len(c), len(c))), np.zeros(len(c))
    for k in range(len(d)):
        g[k : k + 2] += slope[k] * np.array([-1.0, 1.0])
        size[k : k + 2] += np.abs(slope[k])
        H[k : k + 2, k : k + 2] += curvature[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return value.sum(), g, H, size


def ordinal_reach(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, view: View, A: np.ndarray
) -> tuple[Any]:
    """Return the largest ‖·‖² of a score c_t − xᵀw in the directions A (P, r), of weighted rows."""
    counted = slice(None) if s is None else s > 0
    Z = view.of(X[counted])
    return (reach_of_terms(Z, np.zeros((len(Z), 0)), y[counted][:, 0].astype(np.intp), A),)


def reach_of_terms(Z: np.ndarray, error: np.ndarray, k: np.ndarray, A: np.ndarray) -> float:
    """Return ``ordinal_reach`` of columns Z with an error of at most ``error``."""
    p = Z.shape[1]
    K = A.shape[0] - p + 1
    M, step = 0.0, max(16, 2**20 // max(1, A.size))
    for start in range(0, len(Z), step):
        part = slice(start, start + step)
        T, label = np.dot(Z[part], A[:p]), k[part]
        error_norm = np.linalg.norm(np.dot(error[part], np.abs(A[: error.shape[1]])), axis=1)
        for above in (0, 1):
            rows = np.flatnonzero((label < K - 1) if not above else (label > 0))
            change = np.linalg.norm(A[p + label[rows] - above] - T[rows], axis=1) + error_norm[rows]
            M = max(M, float(change.max(initial=0.0)) ** 2)
    return M


def larger_reach(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (max(left[0], right[0]),)


def rounding_of(data: RowData) -> float:
    """Return the relative rounding of a sum over rows of terms with a few operations each."""
    return gamma(data.depth + EVALUATION_ROUNDINGS)
