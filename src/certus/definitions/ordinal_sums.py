r"""Sums over rows of the proportional-odds model, and how wrong rounding can make them.

    P(y ≤ k | x) = σ(c_k − z),   z = xᵀw,   c_0 < c_1 < … < c_{K−2},   y = 0 … K − 1

Between two thresholds σ(a) − σ(b) = σ(a) σ(−b) (1 − e^{b−a}), a = c_y − z and b = c_{y−1} − z, so

    −log P(y | x) = log(1 + e^{−a}) + log(1 + e^{b}) − log(1 − e^{−(c_y − c_{y−1})})

(without the first for the last class, without the second for the first): nothing cancels. Each
logarithm is convex in (w, c), the last a function of the thresholds alone.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.duality import EVALUATION
from certus.definitions.linear_sums import gamma


class OrdinalSums(NamedTuple):
    """Of the two logistic terms of each row, in the columns as viewed; parameters (w, c)."""

    mass: Any  # Σ s of each class
    loss: Any
    g: Any  # (P,), P = p + K − 1
    H: Any  # (P, P)
    loss_error: Any  # what rounding of the scores can have done
    g_error: Any  # (P,)
    size: Any  # (P,): Σ s |∂| |x_j|, by which the sums' own rounding is measured


def ordinal_sums(
    X: Any, y: Any, s: Any, w: Any, c: Any, c_error: float, view: Any
) -> tuple[OrdinalSums, Any]:
    """Of one block, and the largest |x_j| of rows that count. w (p,), c (K − 1,) as viewed."""
    Z, k = view.of(X), y[:, 0].astype(np.intp)
    s = np.ones(len(k)) if s is None else s
    (n, p), K = Z.shape, len(c) + 1
    z, size = np.dot(Z, w), np.dot(np.abs(Z), np.abs(w))
    error = gamma(p + 6) * (size + np.abs(c).max()) + c_error
    total = OrdinalSums(
        np.bincount(k, s, K).astype(float), 0.0, np.zeros(p + K - 1),
        np.zeros((p + K - 1, p + K - 1)), 0.0, np.zeros(p + K - 1), np.zeros(p + K - 1),
    )  # fmt: skip
    loss = loss_error = 0.0
    bend, slope, steepness = np.zeros(n), np.zeros(n), np.zeros(n)
    for above in (0, 1):  # log(1 + e^{−a}) of the row's own threshold, log(1 + e^b) of that below
        rows = np.flatnonzero((k < K - 1) if not above else (k > 0))
        t = k[rows] - above
        m = (z[rows] - c[t]) * (-1.0 if above else 1.0)  # −a, or b
        e = np.exp(-np.abs(m))
        a = np.where(m > 0, 1.0, e) / (1 + e)  # the slope of log(1 + e^m)
        h = e / (1 + e) ** 2
        loss += s[rows] @ (np.log1p(e) + np.maximum(m, 0.0))
        loss_error += s[rows] @ (a * error[rows] + error[rows] ** 2 / 8)
        of_z = -a if above else a
        slope[rows] += of_z
        steepness[rows] += a
        bend[rows] += h
        # ∂/∂c_t is −∂/∂z of the same term
        total.g[p:] -= np.bincount(t, s[rows] * of_z, K - 1)
        total.size[p:] += np.bincount(t, s[rows] * a, K - 1)
        total.g_error[p:] += np.bincount(t, s[rows] * error[rows], K - 1) / 4
        total.H[np.arange(p, p + K - 1), np.arange(p, p + K - 1)] += np.bincount(
            t, s[rows] * h, K - 1
        )
        for j in range(K - 1):
            own = rows[t == j]
            total.H[:p, p + j] -= np.dot(s[own] * h[t == j], Z[own])
    total.H[p:, :p] = total.H[:p, p:].T
    total.H[:p, :p] = np.dot(Z.T, (s * bend)[:, None] * Z)
    total.g[:p] = np.dot(s * slope, Z)
    total.size[:p] = np.dot(s * steepness, np.abs(Z))
    total.g_error[:p] = np.dot(s * error, np.abs(Z)) / 2
    peak = np.abs(Z[s > 0]).max(axis=0, initial=0.0)
    return total._replace(loss=loss, loss_error=loss_error), peak


def combine_ordinal(left: Any, right: Any) -> Any:
    sums = OrdinalSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, np.maximum(left[1], right[1])


def between_thresholds(c: Any, mass: Any) -> tuple[Any, Any, Any, Any]:
    """Σ_k n_k g(d_k) of the classes between two thresholds, g(d) = −log(1 − e^{−d}), with its
    gradient and Hessian in c, and the size of what its gradient is summed from."""
    d, n = np.diff(c), mass[1:-1]
    value = -n * np.log(-np.expm1(-d))
    slope = -n / np.expm1(d)
    bend = n / (2 * np.sinh(np.minimum(d, 1400.0) / 2)) ** 2
    g, H, size = np.zeros(len(c)), np.zeros((len(c), len(c))), np.zeros(len(c))
    for k in range(len(d)):
        g[k : k + 2] += slope[k] * np.array([-1.0, 1.0])
        size[k : k + 2] += np.abs(slope[k])
        H[k : k + 2, k : k + 2] += bend[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return value.sum(), g, H, size


def reaches(X: Any, y: Any, s: Any, view: Any, peak: Any, A: Any, U: Any) -> tuple[Any, Any]:
    """Of one block's rows that count: the largest ‖·‖² of a score c_t − xᵀw in the directions A
    (P, r), and by how much the directions U change one, as a share of what they could."""
    counted = slice(None) if s is None else s > 0
    Z, k = view.of(X[counted]), y[counted][:, 0].astype(np.intp)
    p, K = Z.shape[1], A.shape[0] - Z.shape[1] + 1
    could = np.dot(peak, np.abs(U[:p])) + np.abs(U[p:]).max(axis=0)
    M, null, step = 0.0, 0.0, max(16, 2**20 // max(1, A.size))
    for start in range(0, len(Z), step):
        part, own = Z[start : start + step], k[start : start + step]
        T, N = np.dot(part, A[:p]), np.dot(part, U[:p])
        for above in (0, 1):
            rows = np.flatnonzero((own < K - 1) if not above else (own > 0))
            t = p + own[rows] - above
            change = A[t] - T[rows]
            M = max(M, np.einsum("ij,ij->i", change, change).max(initial=0.0))
            change = np.abs(U[t] - N[rows]).max(axis=0, initial=0.0)
            share = np.divide(change, could, out=np.zeros_like(change), where=could > 0)
            null = max(null, share.max(initial=0.0))
    return M, null


def rounding_of(data: Any) -> float:
    """Of a sum over rows of terms that take a few operations each."""
    return gamma(data.depth + EVALUATION)
